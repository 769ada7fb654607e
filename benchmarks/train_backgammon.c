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

   The arguments are the file to write, the number of matches, and the seed.  A fourth one is the
   file of a network to go on from.  It may have fewer hidden units: the others begin small.
   Options of the compiler set the sizes, with these defaults:

       -DHIDDEN=64 -DFIRST_RATE=0.04 -DLAST_RATE=0.001 -DLAMBDA=0.5 -DSAVED=100000

   The number of hidden units is a multiple of 32.  The program also writes the file after every
   SAVED matches, in one step by way of FILE.tmp. */

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
#ifndef LAST_RATE
#define LAST_RATE 0.001
#endif
#ifndef LAMBDA
#define LAMBDA 0.5
#endif
#ifndef SAVED
#define SAVED 100000
#endif

enum { PLACES = 26, INPUTS = 2 * PLACES * 4, CHANCES = 5 };
enum { LANES = 8, BLOCK = 4, BLOCKS = HIDDEN / (LANES * BLOCK), WIDTH = BLOCKS * BLOCK };
enum { MOST_TURNS = 4096, MOST_PLIES = 4096, BAR = 25, CHECKERS = 15 };

static const double UNIT = 10000;

_Static_assert(HIDDEN > 0 && HIDDEN % (LANES * BLOCK) == 0, "HIDDEN is no multiple of 32");

typedef struct {
    int8_t side[2][PLACES]; /* side 0 is to roll; each in its own numbering, 0 is borne off */
    int8_t unused[12];      /* 64 bytes are copied and compared faster */
} Position;

/* Hidden units are handled 8 at a time; without AVX, gcc warns of the calling convention. */
#pragma GCC diagnostic ignored "-Wpsabi"
typedef float Lanes __attribute__((vector_size(4 * LANES)));
typedef int32_t Bits __attribute__((vector_size(4 * LANES)));

static Lanes into[INPUTS][WIDTH], bias[WIDTH], out[CHANCES][WIDTH];
static float out_bias[CHANCES];

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

static float input_of[3][CHECKERS + 1][4]; /* of borne off, a point, the bar; by count */

static void prepare_inputs(void) {
    for (int n = 0; n <= CHECKERS; n++) {
        input_of[0][n][0] = (float)n / 15, input_of[2][n][0] = (float)n / 2;
        input_of[1][n][0] = n == 1, input_of[1][n][1] = n >= 2, input_of[1][n][2] = n >= 3;
        input_of[1][n][3] = n > 3 ? (float)(n - 3) / 2 : 0;
    }
}

/* Add how the inputs of a place change from one count to another, as inputs_of in estimate.py. */
static void add(Seen *seen, int side, int place, int from, int to) {
    int kind = (place > 0) + (place == BAR);
    for (int k = 0; k < (kind == 1 ? 4 : 1); k++) {
        float change = input_of[kind][to][k] - input_of[kind][from][k];
        if (change != 0) {
            seen->index[seen->count] = 4 * (PLACES * side + place) + k;
            seen->value[seen->count++] = change;
        }
    }
}

/* See a position; by its sides as they are, or exchanged. */
static void look(const Position *position, int exchanged, Seen *seen) {
    seen->count = 0;
    for (int side = 0; side < 2; side++)
        for (int place = 0; place < PLACES; place++)
            if (position->side[side][place])
                add(seen, side ^ exchanged, place, 0, position->side[side][place]);
}

/* See only where a position differs from another one, with the sides exchanged. */
static void look_again(const Position *before, const Position *position, Seen *seen) {
    seen->count = 0;
    for (int side = 0; side < 2; side++)
        for (int word = 0; word < 4; word++) {
            /* Eight places at once, the last ones again. */
            static const int first[4] = {0, 8, 16, 18};
            uint64_t old, new;
            memcpy(&old, before->side[side] + first[word], 8);
            memcpy(&new, position->side[side] + first[word], 8);
            uint64_t differ = old ^ new;
            if (word == 3) differ &= ~0ull << 48;
            while (differ) {
                int byte = __builtin_ctzll(differ) / 8, place = first[word] + byte;
                differ &= ~(0xffull << (8 * byte));
                add(seen, 1 - side, place, before->side[side][place],
                    position->side[side][place]);
            }
        }
}

static void sum(const Seen *seen, const Lanes *base, Lanes *sums) {
    for (int at = 0; at < WIDTH; at += BLOCK) {
        Lanes a = base[at], b = base[at + 1], c = base[at + 2], d = base[at + 3];
        for (int i = 0; i < seen->count; i++) {
            const Lanes *row = into[seen->index[i]] + at;
            float value = seen->value[i];
            a += value * row[0], b += value * row[1], c += value * row[2], d += value * row[3];
        }
        sums[at] = a, sums[at + 1] = b, sums[at + 2] = c, sums[at + 3] = d;
    }
}

static Lanes steepness(Lanes sums) { return 1 / (1 + (Lanes)((Bits)sums & 0x7fffffff)); }

static void chances_by(const Lanes *sums, float *chances) {
    Lanes odds[CHANCES] = {0};
    for (int at = 0; at < WIDTH; at++) {
        Lanes given = sums[at] * steepness(sums[at]);
        for (int k = 0; k < CHANCES; k++) odds[k] += given * out[k][at];
    }
    for (int k = 0; k < CHANCES; k++) {
        float total = out_bias[k];
        for (int lane = 0; lane < LANES; lane++) total += odds[k][lane];
        chances[k] = 1 / (1 + expf(-total));
    }
}

/* One step of gradient descent of the cross-entropy. */
static void learn(const Position *position, const float *target, float rate) {
    Seen seen;
    Lanes sums[WIDTH], back[WIDTH];
    float chances[CHANCES], error[CHANCES];
    look(position, 0, &seen);
    sum(&seen, bias, sums);
    chances_by(sums, chances);
    for (int k = 0; k < CHANCES; k++) {
        error[k] = rate * (target[k] - chances[k]);
        out_bias[k] += error[k];
    }
    for (int at = 0; at < WIDTH; at++) {
        Lanes total = {0}, steep = steepness(sums[at]), given = sums[at] * steep;
        for (int k = 0; k < CHANCES; k++) {
            total += error[k] * out[k][at];
            out[k][at] += error[k] * given;
        }
        back[at] = total * steep * steep;
        bias[at] += back[at];
    }
    for (int i = 0; i < seen.count; i++) {
        Lanes *row = into[seen.index[i]];
        float value = seen.value[i];
        for (int at = 0; at < WIDTH; at++) row[at] += value * back[at];
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

static double cost(int point) {
    static const double near[7] = {0, 3.1, 3.4, 3.9, 4.4, 5.2, 6.2};
    return point < 7 ? near[point] : point;
}

static double to_leave(const int8_t *side, int home) {
    double total = 0;
    for (int point = home + 1; point < BAR; point++) total += cost(point - home) * side[point];
    return total;
}

static double to_save(const int8_t *side) {
    int nearest = 1;
    while (nearest < 7 && !side[nearest]) nearest++;
    return 3 + cost(nearest < 7 ? nearest : 4) + to_leave(side, 6);
}

static void race(const int8_t *mine, const int8_t *theirs, float *chances) {
    double ours = 3 + to_leave(mine, 0), others = 3 + to_leave(theirs, 0), left;
    double win = first_home(ours, others), gammon = 0, backgammon = 0, lost = 0, badly = 0;
    if (!theirs[0]) {
        gammon = fmin(win, first_home(ours, to_save(theirs)));
        left = to_leave(theirs, 18);
        if (left > 0) backgammon = fmin(gammon, first_home(ours, left + 3));
    }
    if (!mine[0]) {
        lost = fmin(1 - win, 1 - first_home(to_save(mine), others));
        left = to_leave(mine, 18);
        if (left > 0) badly = fmin(lost, 1 - first_home(left + 3, others));
    }
    chances[0] = (float)win, chances[1] = (float)gammon, chances[2] = (float)backgammon;
    chances[3] = (float)lost, chances[4] = (float)badly;
}

static int highest(const int8_t *side) {
    int point = BAR;
    while (point > 0 && !side[point]) point--;
    return point;
}

/* After a turn of side 0, the chances of the other where they are known: at the end, and without
   contact. */
static int end_of(const Position *position, float *chances) {
    const int8_t *mine = position->side[1], *theirs = position->side[0];
    if (theirs[0] == CHECKERS) {
        memset(chances, 0, CHANCES * sizeof *chances);
        chances[3] = mine[0] == 0;
        chances[4] = mine[0] == 0 && highest(mine) > 18;
        return 1;
    }
    if (highest(mine) + highest(theirs) >= 25) return 0;
    race(mine, theirs, chances);
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
}

/* A position as the other seat sees it. */
static Position exchanged(const Position *position) {
    Position other = {0};
    memcpy(other.side[0], position->side[1], PLACES);
    memcpy(other.side[1], position->side[0], PLACES);
    return other;
}

/* One match of self-play, and what is learned of it. */
static int play(double rate) {
    static Position past[MOST_PLIES];
    static float values[MOST_PLIES][CHANCES], targets[MOST_PLIES][CHANCES];
    static const int8_t start[PLACES] = {[6] = 5, [8] = 3, [13] = 5, [24] = 2};
    Position here = {0};
    Lanes base[WIDTH], sums[WIDTH];
    Seen seen;
    float end[CHANCES], after[CHANCES];
    int plies = 0, ended = 0;
    memcpy(here.side[0], start, PLACES), memcpy(here.side[1], start, PLACES);
    while (!ended) {
        int one = die(), two = die(), best = 0;
        float least = 100, chosen[CHANCES] = {0};
        while (!plies && one == two) one = die(), two = die();
        turns(&here, one, two);
        look(&here, 1, &seen);
        sum(&seen, bias, base);
        for (int i = 0; i < found_count; i++) {
            float chances[CHANCES];
            int over = end_of(&found[i], chances);
            if (!over) {
                look_again(&here, &found[i], &seen);
                sum(&seen, base, sums);
                chances_by(sums, chances);
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
            past[plies++] = here = exchanged(&found[best]);
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

/* The file. */

/* Its numbers: first the biases, then of each unit its chances, then of each input its units. */
static float *weight_at(int number) {
    if (number < HIDDEN) return (float *)bias + number;
    number -= HIDDEN;
    if (number < CHANCES) return out_bias + number;
    number -= CHANCES;
    if (number < CHANCES * HIDDEN)
        return (float *)out[number % CHANCES] + number / CHANCES;
    number -= CHANCES * HIDDEN;
    return (float *)into[number / HIDDEN] + number % HIDDEN;
}

static int write_line(FILE *file, int number, int length) {
    for (int i = 0; i < length; i++)
        fprintf(file, "%s%ld", i ? " " : "", lround((double)*weight_at(number + i) * UNIT));
    return number + length;
}

/* Write the name of a file, without its folders, within a string of TOML. */
static void write_name(FILE *file, const char *path) {
    const char *name = strrchr(path, '/');
    for (name = name ? name + 1 : path; *name; name++) {
        if (*name == '"' || *name == '\\') fputc('\\', file);
        fputc((unsigned char)*name < ' ' || *name == 127 ? '?' : *name, file);
    }
}

static void write_network(FILE *file, int played, int matches, int seed, const char *from) {
    int number = 0;
    fprintf(file, "# The network behind backgammon's estimate; benchmarks/train_backgammon.c made it.\n");
    fprintf(file, "format = \"plyhouse-backgammon-network-1\"\n");
    fprintf(file, "trained = \"TD(lambda) on %d ", played);
    if (played < matches) fprintf(file, "of %d ", matches);
    fprintf(file, "matches of self-play, seed %d, lambda %g, rate %g to %g", seed, LAMBDA, FIRST_RATE,
            LAST_RATE);
    if (from) fprintf(file, ", from "), write_name(file, from);
    fprintf(file, "\"\n");
    fprintf(file, "hidden = %d\nhidden_bias = \"", HIDDEN);
    number = write_line(file, number, HIDDEN);
    fprintf(file, "\"\nchances_bias = \"");
    number = write_line(file, number, CHANCES);
    fprintf(file, "\"\n# Of each hidden unit its weights in the five chances.\nchances = \"\"\"\n");
    for (int unit = 0; unit < HIDDEN; unit++)
        number = write_line(file, number, CHANCES), fputc('\n', file);
    fprintf(file, "\"\"\"\n# Of each place (borne off, points 1 to 24, bar) of who rolls, then of the other,\n"
                  "# four inputs (blot, point, spare, more) with their weights in the hidden units.\n"
                  "inputs = \"\"\"\n");
    for (int i = 0; i < INPUTS; i++)
        number = write_line(file, number, HIDDEN), fputc('\n', file);
    fprintf(file, "\"\"\"\n");
}

/* Open the file beside the one to write, whose name is given back, too. */
static FILE *open_beside(const char *path, char **name) {
    size_t size = strlen(path) + sizeof ".tmp";
    FILE *file;
    *name = malloc(size);
    if (!*name) {
        perror("malloc");
        exit(1);
    }
    snprintf(*name, size, "%s.tmp", path);
    file = fopen(*name, "w");
    if (!file) {
        perror(*name);
        exit(1);
    }
    return file;
}

/* Write the network in one step: a file that is there stays until the new one is complete. */
static void save(const char *path, int played, int matches, int seed, const char *from) {
    char *name;
    FILE *file = open_beside(path, &name);
    int failed;
    write_network(file, played, matches, seed, from);
    failed = fflush(file) || ferror(file);
    failed = fclose(file) || failed;
    if (failed || rename(name, path)) {
        fprintf(stderr, "cannot write ");
        perror(failed ? name : path);
        remove(name);
        exit(1);
    }
    free(name);
}

/* Go on to what a name is set to. */
static void find(FILE *file, const char *name) {
    char text[32] = "";
    int ended = 0;
    while (!ended) {
        if (fscanf(file, "%31s", text) != 1) {
            fprintf(stderr, "the network to go on from has no %s\n", name);
            exit(4);
        }
        if (!strcmp(text, name) && fscanf(file, " =%n", &ended) < 0) exit(4);
    }
}

static void read_numbers(FILE *file, const char *name, int length, int unit, int units) {
    find(file, name);
    if (fscanf(file, " %*[\"]") < 0) exit(4);
    for (int i = 0; i < length; i++) {
        long value;
        if (fscanf(file, "%ld", &value) != 1) exit(4);
        /* As many numbers of each input as the file has units. */
        *weight_at(unit + i / units * HIDDEN + i % units) = (float)((double)value / UNIT);
    }
}

/* Read the weights of a file, whose units come before those that it does not have. */
static void load(const char *path) {
    FILE *file = fopen(path, "r");
    int units;
    if (!file) {
        perror(path);
        exit(1);
    }
    find(file, "hidden");
    if (fscanf(file, "%d", &units) != 1 || units < 1 || units > HIDDEN) {
        fprintf(stderr, "%s has not 1 to %d hidden units\n", path, HIDDEN);
        exit(4);
    }
    for (int k = 0; k < CHANCES; k++)
        for (int at = 0; at < WIDTH; at++) out[k][at] *= 0.1f;
    read_numbers(file, "hidden_bias", units, 0, units);
    read_numbers(file, "chances_bias", CHANCES, HIDDEN, CHANCES);
    read_numbers(file, "chances", CHANCES * units, HIDDEN + CHANCES, CHANCES * units);
    read_numbers(file, "inputs", INPUTS * units, HIDDEN + CHANCES + CHANCES * HIDDEN, units);
    fclose(file);
}

int main(int count, char **given) {
    if (count != 4 && count != 5) {
        fprintf(stderr, "usage: train_backgammon FILE MATCHES SEED [NETWORK]\n");
        return 2;
    }
    int matches = atoi(given[2]), seed = atoi(given[3]);
    double plies = 0;
    drawn = (uint64_t)seed;
    for (int side = 0; side < 2; side++)
        for (int place = 0; place < PLACES; place++) keys[side][place] = draw();
    prepare_inputs();
    for (int i = HIDDEN + CHANCES; i < HIDDEN + CHANCES + (CHANCES + INPUTS) * HIDDEN; i++)
        *weight_at(i) = small_weight();
    /* Gammons are rarer than wins, and backgammons rarer than gammons. */
    out_bias[1] = out_bias[3] = -1.5f, out_bias[2] = out_bias[4] = -4;
    const char *from = count == 5 ? given[4] : NULL;
    char *name;
    if (from) load(from);
    fclose(open_beside(given[1], &name)); /* a wrong name is found before the training */
    remove(name);
    free(name);
    for (int match = 0; match < matches; match++) {
        plies += play(LAST_RATE + (FIRST_RATE - LAST_RATE) * pow(1 - (double)match / matches, 1.5));
        if (match % 2000 == 1999) {
            fprintf(stderr, "%d matches, %.1f plies each, %.0f s\n", match + 1, plies / 2000,
                    (double)clock() / CLOCKS_PER_SEC);
            plies = 0;
        }
        if ((match + 1) % SAVED == 0 && match + 1 < matches)
            save(given[1], match + 1, matches, seed, from);
    }
    save(given[1], matches, matches, seed, from);
    return 0;
}
