/* Trains the network behind backgammon's estimate, and writes its file of weights.

   G. Tesauro, "Temporal difference learning and TD-Gammon", Communications of the ACM 38 (1995):
   the network plays both sides, always the turn after which it likes its position best, and
   after each match every position's chances are moved towards those of the positions that
   followed: TD(lambda), in its forward view.  A match ends where contact does: what a race is
   worth is computed from pips, as in games/stochastic/backgammon/estimate.py, which reads the
   file and says what its parts mean.

   Neither the package nor its tests need this program.  The same seed gives the same file with
   the same compiler on the same kind of processor.

       cc -O3 -march=native -o train_backgammon benchmarks/train_backgammon.c -lm
       ./train_backgammon network.toml 300000 1

   The arguments are the file, the number of matches, and the seed.  Options of the compiler set
   the number of hidden units and the first rate: -DHIDDEN=160 -DFIRST_RATE=0.03. */

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef HIDDEN
#define HIDDEN 64
#endif
#ifndef FIRST_RATE
#define FIRST_RATE 0.04
#endif

enum { PLACES = 26, INPUTS = 2 * PLACES * 4, CHANCES = 5, WIDE = 8 };
enum { MOST_TURNS = 4096, MOST_PLIES = 4096, BAR = 25, CHECKERS = 15 };

static const double LAMBDA = 0.5, LAST_RATE = 0.001;
static const double UNIT = 10000;

typedef struct {
    int8_t side[2][PLACES]; /* side 0 is to roll; each in its own numbering, 0 is borne off */
} Position;

static float into[INPUTS][HIDDEN], bias[HIDDEN], out[HIDDEN][WIDE], out_bias[WIDE];

/* Numbers drawn by S. Vigna's splitmix64. */
static uint64_t drawn;

static uint64_t draw(void) {
    uint64_t z = (drawn += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int die(void) { return 1 + (int)((draw() >> 32) * 6 >> 32); }

static float small_weight(void) { return (float)((double)(draw() >> 11) / (1ull << 53) - 0.5) / 5; }

/* The network. */

typedef struct {
    int count, index[4 * 2 * PLACES];
    float value[4 * 2 * PLACES];
} Seen;

static void add(Seen *seen, int index, float value) {
    seen->index[seen->count] = index;
    seen->value[seen->count++] = value;
}

/* As inputs_of in estimate.py. */
static void look(const Position *position, Seen *seen) {
    seen->count = 0;
    for (int side = 0; side < 2; side++)
        for (int place = 0; place < PLACES; place++) {
            int n = position->side[side][place], at = 4 * (PLACES * side + place);
            if (!n) continue;
            if (place == 0) add(seen, at, (float)n / 15);
            else if (place == BAR) add(seen, at, (float)n / 2);
            else if (n == 1) add(seen, at, 1);
            else {
                add(seen, at + 1, 1);
                if (n >= 3) add(seen, at + 2, 1);
                if (n > 3) add(seen, at + 3, (float)(n - 3) / 2);
            }
        }
}

static void forward(const Seen *seen, float sums[HIDDEN], float given[HIDDEN], float chances[WIDE]) {
    float odds[WIDE];
    memcpy(sums, bias, sizeof bias);
    for (int i = 0; i < seen->count; i++) {
        const float *row = into[seen->index[i]];
        float value = seen->value[i];
        for (int unit = 0; unit < HIDDEN; unit++) sums[unit] += value * row[unit];
    }
    for (int unit = 0; unit < HIDDEN; unit++) given[unit] = sums[unit] / (1 + fabsf(sums[unit]));
    memcpy(odds, out_bias, sizeof odds);
    for (int unit = 0; unit < HIDDEN; unit++)
        for (int k = 0; k < WIDE; k++) odds[k] += given[unit] * out[unit][k];
    for (int k = 0; k < CHANCES; k++) chances[k] = 1 / (1 + expf(-odds[k]));
}

/* One step of gradient descent of the cross-entropy. */
static void learn(const Position *position, const float *target, float rate) {
    Seen seen;
    float sums[HIDDEN], given[HIDDEN], chances[WIDE], error[WIDE] = {0}, back[HIDDEN];
    look(position, &seen);
    forward(&seen, sums, given, chances);
    for (int k = 0; k < CHANCES; k++) error[k] = rate * (target[k] - chances[k]);
    for (int unit = 0; unit < HIDDEN; unit++) {
        float total = 0, steep = 1 / (1 + fabsf(sums[unit]));
        for (int k = 0; k < CHANCES; k++) total += error[k] * out[unit][k];
        back[unit] = total * steep * steep;
        for (int k = 0; k < CHANCES; k++) out[unit][k] += error[k] * given[unit];
        bias[unit] += back[unit];
    }
    for (int k = 0; k < CHANCES; k++) out_bias[k] += error[k];
    for (int i = 0; i < seen.count; i++) {
        float *row = into[seen.index[i]], value = seen.value[i];
        for (int unit = 0; unit < HIDDEN; unit++) row[unit] += value * back[unit];
    }
}

static void flip(const float *chances, float *other) {
    float win = 1 - chances[0], lost = chances[1], badly = chances[2];
    other[1] = chances[3], other[2] = chances[4];
    other[0] = win, other[3] = lost, other[4] = badly;
}

static float points(const float *c) { return 2 * c[0] - 1 + c[1] + c[2] - c[3] - c[4]; }

/* Races, as in estimate.py. */

static double first_home(double ours, double others) {
    double both = ours + others, variance = 1.75 * both * both / (both + 50);
    return 0.5 * (1 + erf((others - ours + 4) / sqrt(2 * variance)));
}

static double beyond(const int8_t *side, int home) {
    int total = 0;
    for (int point = home + 1; point < PLACES; point++) total += (point - home) * side[point];
    return total;
}

static void race(const Position *position, float *chances) {
    static const double near[7] = {0, 3.1, 3.4, 3.9, 4.4, 5.2, 6.2};
    const int8_t *mine = position->side[0], *theirs = position->side[1];
    double ours = 3, others = 3, win, gammon = 0, backgammon = 0, lost = 0, badly = 0;
    for (int point = 1; point < BAR; point++) {
        double cost = point < 7 ? near[point] : point;
        ours += mine[point] * cost;
        others += theirs[point] * cost;
    }
    win = first_home(ours, others);
    if (!theirs[0]) {
        gammon = fmin(win, first_home(ours, beyond(theirs, 6) + 7));
        if (beyond(theirs, 18) > 0)
            backgammon = fmin(gammon, first_home(ours, beyond(theirs, 18) + 4));
    }
    if (!mine[0]) {
        lost = fmin(1 - win, 1 - first_home(beyond(mine, 6) + 7, others));
        if (beyond(mine, 18) > 0) badly = fmin(lost, 1 - first_home(beyond(mine, 18) + 4, others));
    }
    chances[0] = (float)win, chances[1] = (float)gammon, chances[2] = (float)backgammon;
    chances[3] = (float)lost, chances[4] = (float)badly;
}

static int highest(const int8_t *side) {
    int point = BAR;
    while (point > 0 && !side[point]) point--;
    return point;
}

/* The chances of who is to roll where they are known: at the end, and without contact. */
static int end_of(const Position *position, float *chances) {
    const int8_t *mine = position->side[0], *theirs = position->side[1];
    if (theirs[0] == CHECKERS) {
        memset(chances, 0, CHANCES * sizeof *chances);
        chances[3] = mine[0] == 0;
        chances[4] = mine[0] == 0 && highest(mine) > 18;
        return 1;
    }
    if (highest(mine) + highest(theirs) >= 25) return 0;
    race(position, chances);
    return 1;
}

/* The turns of a roll: all positions after most dice, each once. */

static Position found[MOST_TURNS];
static uint64_t found_key[MOST_TURNS], keys[2][PLACES];
static int found_count, most, largest_used;

static void collect(const Position *position, uint64_t key, int dice, int first) {
    if (dice < most || (dice == most && dice == 1 && first < largest_used)) return;
    if (dice > most || (dice == 1 && first > largest_used)) found_count = 0;
    most = dice;
    if (dice == 1) largest_used = first;
    for (int i = 0; i < found_count; i++)
        if (found_key[i] == key) return;
    if (found_count == MOST_TURNS) exit(3);
    found[found_count] = *position;
    found_key[found_count++] = key;
}

static void extend(const Position *position, uint64_t key, const int *dice, int left, int played,
                   int start) {
    const int8_t *mine = position->side[0];
    int top = highest(mine), size = dice[0], moved = 0;
    for (int point = top < start ? top : start; left && point > 0; point--) {
        int to = point - size, hit = 0;
        if (!mine[point] || (top == BAR && point != BAR)) continue;
        if (to > 0) {
            if (position->side[1][25 - to] > 1) continue;
            hit = position->side[1][25 - to];
        } else if (top > 6 || (to < 0 && point != top)) continue;
        if (to < 0) to = 0;
        Position next = *position;
        uint64_t after = key - keys[0][point] + keys[0][to];
        next.side[0][point]--, next.side[0][to]++;
        if (hit) {
            next.side[1][25 - to] = 0, next.side[1][BAR]++;
            after += keys[1][BAR] - keys[1][25 - to];
        }
        moved = 1;
        /* Of a double the points only fall, as any other order comes to the same. */
        extend(&next, after, dice + 1, left - 1, played + 1,
               left > 1 && dice[1] == size ? point : BAR);
    }
    if (!moved) collect(position, key, played, played == 1 ? dice[-1] : 0);
}

static void turns(const Position *position, int one, int two) {
    int same[4] = {one, one, one, one}, forth[2] = {one, two}, back[2] = {two, one};
    found_count = most = largest_used = 0;
    if (one == two) extend(position, 0, same, 4, 0, BAR);
    else {
        extend(position, 0, forth, 2, 0, BAR);
        extend(position, 0, back, 2, 0, BAR);
    }
    for (int i = 0; i < found_count; i++) { /* as the other sees them, who rolls next */
        int8_t kept[PLACES];
        memcpy(kept, found[i].side[0], PLACES);
        memcpy(found[i].side[0], found[i].side[1], PLACES);
        memcpy(found[i].side[1], kept, PLACES);
    }
}

/* One match of self-play, and what is learned of it. */
static int play(double rate) {
    static Position past[MOST_PLIES];
    static float values[MOST_PLIES][CHANCES], targets[MOST_PLIES][CHANCES];
    static const int8_t start[PLACES] = {[6] = 5, [8] = 3, [13] = 5, [24] = 2};
    Position here;
    float end[CHANCES], after[CHANCES];
    int plies = 0, ended = 0;
    memcpy(here.side[0], start, PLACES), memcpy(here.side[1], start, PLACES);
    while (!ended) {
        int one = die(), two = die(), best = 0;
        float least = 100, chosen[CHANCES] = {0};
        while (!plies && one == two) one = die(), two = die();
        turns(&here, one, two);
        for (int i = 0; i < found_count; i++) {
            float sums[HIDDEN], given[HIDDEN], chances[WIDE];
            int over = end_of(&found[i], chances);
            if (!over) {
                Seen seen;
                look(&found[i], &seen);
                forward(&seen, sums, given, chances);
            }
            if (points(chances) < least) {
                least = points(chances), best = i, ended = over;
                memcpy(chosen, chances, sizeof chosen);
            }
        }
        if (ended) memcpy(end, chosen, sizeof end);
        else if (plies == MOST_PLIES) return 0; /* nothing is learned of a match without end */
        else {
            memcpy(values[plies], chosen, sizeof chosen);
            past[plies++] = here = found[best];
        }
    }
    flip(end, after);
    for (int ply = plies - 1; ply >= 0; ply--) {
        memcpy(targets[ply], after, sizeof after);
        for (int k = 0; k < CHANCES; k++)
            after[k] = (float)((1 - LAMBDA) * values[ply][k] + LAMBDA * after[k]);
        flip(after, after);
    }
    for (int ply = plies - 1; ply >= 0; ply--) learn(&past[ply], targets[ply], (float)rate);
    return plies;
}

static void line(FILE *file, const float *row, int length) {
    for (int i = 0; i < length; i++)
        fprintf(file, "%s%ld", i ? " " : "", lround((double)row[i] * UNIT));
}

static void save(const char *path, int played, int seed) {
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        exit(1);
    }
    fprintf(file, "# The network behind backgammon's estimate; benchmarks/train_backgammon.c made it.\n");
    fprintf(file, "format = \"plyhouse-backgammon-network-1\"\n");
    fprintf(file,
            "trained = \"TD(lambda) on %d matches of self-play, seed %d, lambda %g, rate %g to %g\"\n",
            played, seed, LAMBDA, FIRST_RATE, LAST_RATE);
    fprintf(file, "hidden = %d\nhidden_bias = \"", HIDDEN);
    line(file, bias, HIDDEN);
    fprintf(file, "\"\nchances_bias = \"");
    line(file, out_bias, CHANCES);
    fprintf(file, "\"\n# Of each hidden unit its weights in the five chances.\nchances = \"\"\"\n");
    for (int unit = 0; unit < HIDDEN; unit++) line(file, out[unit], CHANCES), fputc('\n', file);
    fprintf(file, "\"\"\"\n# Of each place (borne off, points 1 to 24, bar) of who rolls, then of the other,\n"
                  "# four inputs (blot, point, spare, more) with their weights in the hidden units.\n"
                  "inputs = \"\"\"\n");
    for (int i = 0; i < INPUTS; i++) line(file, into[i], HIDDEN), fputc('\n', file);
    fprintf(file, "\"\"\"\n");
    fclose(file);
}

int main(int count, char **given) {
    if (count != 4) {
        fprintf(stderr, "usage: train_backgammon FILE MATCHES SEED\n");
        return 2;
    }
    int matches = atoi(given[2]), seed = atoi(given[3]);
    double plies = 0;
    drawn = (uint64_t)seed;
    for (int side = 0; side < 2; side++)
        for (int place = 0; place < PLACES; place++) keys[side][place] = draw();
    for (int i = 0; i < INPUTS; i++)
        for (int unit = 0; unit < HIDDEN; unit++) into[i][unit] = small_weight();
    for (int unit = 0; unit < HIDDEN; unit++)
        for (int k = 0; k < CHANCES; k++) out[unit][k] = small_weight();
    /* Gammons are rarer than wins, and backgammons rarer than gammons. */
    out_bias[1] = out_bias[3] = -1.5f, out_bias[2] = out_bias[4] = -4;
    for (int match = 0; match < matches; match++) {
        plies += play(LAST_RATE + (FIRST_RATE - LAST_RATE) * pow(1 - (double)match / matches, 1.5));
        if (match % 2000 == 1999) {
            fprintf(stderr, "%d matches, %.1f plies each, %.0f s\n", match + 1, plies / 2000,
                    (double)clock() / CLOCKS_PER_SEC);
            plies = 0;
        }
    }
    save(given[1], matches, seed);
    return 0;
}
