"""A chat model as a bot: ``llm(model="NAME", endpoint="http://127.0.0.1:11434/v1")``.

    prompts  questions to a model, for every game
    answers  the meaning of its answer: an action, or why it is none
    chat     one request to an endpoint, OpenAI's form or Anthropic's, within its time
    llm_bot  the bot: asks, reads, asks again, and counts tries, tokens and cost

A structured answer is final.  Prose is read only where there is no structured answer.  No other
action ever takes the place of the one that a model named.
"""
