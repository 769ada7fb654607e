/* A hosted bot in C: protocol v1 as lines of JSON on standard input and output.
 *
 *     cc -O2 -o bot bot.c
 *     zip bot.zip bot plyhouse.toml
 *
 * Who we are and our token are filled in by the runner, which also answers pings for us.  What is
 * written to standard error is kept for the author.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int last_id = 0;

/* ------------------------------------------------------------- as much JSON as we need */

/* The end of the value that begins at p. */
static const char *skip(const char *p) {
    int depth = 0;
    do {
        if (*p == '"') {
            for (p++; *p && *p != '"'; p++)
                if (*p == '\\' && p[1]) p++;
        } else if (*p == '{' || *p == '[') {
            depth++;
        } else if (*p == '}' || *p == ']') {
            depth--;
        } else if (depth == 0) { /* a number, true, false, null */
            while (p[1] && !strchr(",]}", p[1])) p++;
        }
        if (*p) p++;
    } while (*p && depth > 0);
    return p;
}

/* The value of a key of the object at p; NULL if there is none. */
static const char *get(const char *p, const char *key) {
    size_t length = strlen(key);
    if (!p || *p != '{') return NULL;
    for (p++; *p == '"';) {
        const char *name = p + 1, *after = skip(p);
        if (*after != ':') return NULL;
        if ((size_t)(after - 1 - name) == length && !strncmp(name, key, length)) return after + 1;
        p = skip(after + 1);
        if (*p == ',') p++;
    }
    return NULL;
}

static int is(const char *value, const char *text) {
    return value && *value == '"' && !strncmp(value + 1, text, strlen(text)) &&
           value[1 + strlen(text)] == '"';
}

static int number(const char *value) { return value ? atoi(value) : 0; }

/* Print the value as it came, quotes included. */
static void print(const char *value) { fwrite(value, 1, (size_t)(skip(value) - value), stdout); }

/* ------------------------------------------------------------- playing */

static void act(const char *match, int ply, const char *observation) {
    const char *legal = get(observation, "legal"), *p;
    int count = 0, middle;
    if (!match || !legal || *legal != '[') return;
    for (p = legal + 1; *p && *p != ']'; p = skip(p), p += *p == ',') count++;
    middle = count / 2; /* columns in the middle take part in most lines */
    for (p = legal + 1; middle > 0; middle--) p = skip(p) + 1;
    printf("{\"type\":\"act\",\"id\":%d,\"match\":", ++last_id);
    print(match);
    printf(",\"ply\":%d,\"action\":", ply);
    print(p);
    printf("}\n");
}

static void enter(const char *snapshot) {
    const char *match = get(snapshot, "match"), *status = get(snapshot, "status");
    const char *turn = get(snapshot, "your_turn");
    if (!match || !get(snapshot, "seat") || get(snapshot, "outcome")) return;
    if (!status || is(status, "waiting")) {
        printf("{\"type\":\"ready\",\"id\":%d,\"match\":", ++last_id);
        print(match);
        printf(",\"nonce\":\"%08x%08x\"}\n", (unsigned)rand(), (unsigned)rand());
    } else if (turn && *turn == 't') {
        act(match, number(get(snapshot, "ply")), get(snapshot, "observation"));
    }
}

int main(void) {
    char *line = NULL;
    size_t room = 0;
    setvbuf(stdout, NULL, _IOLBF, 1 << 16);
    printf("{\"type\":\"hello\",\"id\":%d,\"client\":\"c-hosted/1.0\",\"max_matches\":4}\n", ++last_id);
    while (getline(&line, &room, stdin) > 0) {
        const char *type = get(line, "type");
        if (is(type, "welcome")) {
            const char *p = get(line, "matches");
            if (p && *p == '[')
                for (p++; *p == '{'; p = skip(p), p += *p == ',') enter(p);
        } else if (is(type, "match")) {
            enter(get(line, "snapshot"));
        } else if (is(type, "turn")) {
            act(get(line, "match"), number(get(line, "ply")), get(line, "observation"));
        } else if (is(type, "error")) {
            fputs(line, stderr);
        }
    }
    free(line);
    return 0;
}
