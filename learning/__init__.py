"""Training of networks, policies and weights, by which bots then play.

Bots and commands import it, the server and the search library do not.

weights                                     steps of Adam, and networks as files
checkpoints                                 trainings in steps, and how they are kept
tuning                                      weights of an evaluation, from results or self-play
board_views, policy_networks                boards as inputs of networks, networks and their files
alphazero_training                          their training by self-play
alphazero_curve                             how well they play: points of learning curves
backgammon_training                         a network for backgammon, trained by self-play
leduc_continual                             Leduc poker, each round solved when it begins
leduc_network, leduc_subgames               values of its hands for that, and what they learn from
leduc_training                              the training of that network
limit_holdem                                buckets, betting tree and policies of limit hold'em
limit_holdem_training                       such a policy in training
"""

if __name__ != "plyhouse.learning":
    raise ImportError("import plyhouse.learning, not learning")
