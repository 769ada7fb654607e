/* Trains the networks behind backgammon's estimate, and writes their file of weights.

   The networks play both sides, always the turn after which they like their position best (G.
   Tesauro, "Temporal difference learning and TD-Gammon", Communications of the ACM 38, 1995).
   A position's target is its value one ply ahead: the mean over rolls of the value after the best
   turn.  What the same mean corrects in the positions that follow is added, less by LAMBDA for
   each ply: this is TD(lambda) without the luck of the dice.  Positions of earlier matches
   are learned again.  games/stochastic/backgammon/estimate.py reads the file and says what its
   parts mean.  shapes.py beside it defines the inputs that no single point shows.

   Neither the package nor its tests need this program.  The same seed gives the same file with
   the same compiler on the same kind of processor.

       cc -O3 -march=native -ffast-math -o train_backgammon benchmarks/train_backgammon.c -lm
       ./train_backgammon networks.toml 30000 1

   The arguments are the file to write, the number of matches, and the seed.  A fourth one is the
   file to go on from, also of the older format with one network and without shapes.  It may have
   fewer hidden units and networks: the others begin small.  Options of the compiler set the sizes,
   with these defaults:

       -DHIDDEN=64 -DFIRST_RATE=0.02 -DLAST_RATE=0.0005 -DLAMBDA=0.8 -DSAVED=10000
       -DREPLAYS=16 -DKEPT=400000 -DVARIED=0.2 -DRACES=0.1

   The number of hidden units is a multiple of 32.  Each position is learned again REPLAYS times,
   of the last KEPT.  RACES is the share of matches that begin as a race with checkers at random, and
   VARIED the share of the others that begin with turns at random.  The program also writes the file
   after every SAVED matches, in one step by way of FILE.tmp.

       ./train_backgammon judge networks.toml judged.txt

   prints what choices by a file lose in the positions that backgammon_choices.py has written: the
   number of each kind (15 are all), its decisions, and the loss with its margin at 95 %. */

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#ifndef HIDDEN
#define HIDDEN 64
#endif
#ifndef FIRST_RATE
#define FIRST_RATE 0.02
#endif
#ifndef LAST_RATE
#define LAST_RATE 0.0005
#endif
#ifndef LAMBDA
#define LAMBDA 0.8
#endif
#ifndef SAVED
#define SAVED 10000
#endif
#ifndef REPLAYS
#define REPLAYS 16
#endif
#ifndef KEPT
#define KEPT 400000
#endif
#ifndef VARIED
#define VARIED 0.2
#endif
#ifndef RACES
#define RACES 0.1
#endif

#ifdef __AVX512F__
#define LANES 16
#else
#define LANES 8
#endif
enum { NETS = 3, PLACES = 26, RAW = 2 * PLACES * 4, CHANCES = 5 };
enum { SIDED = 4, CROSSED = 4, INPUTS = RAW + 2 * SIDED + 2 * CROSSED };
enum { BLOCK = HIDDEN % (5 * LANES) ? 2 : 5, BLOCKS = HIDDEN / (LANES * BLOCK), WIDTH = BLOCKS * BLOCK };
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

typedef struct {
    Lanes into[INPUTS][WIDTH], bias[WIDTH], out[CHANCES][WIDTH];
    float out_bias[CHANCES], unused[11];
} Network;
static Network nets[NETS]; /* as networks() in estimate.py */

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
    int count, index[INPUTS];
    float value[INPUTS];
} Seen;

static float input_of[3][CHECKERS + 1][4]; /* of borne off, a point, the bar; by count */

static void prepare_inputs(void) {
    for (int n = 0; n <= CHECKERS; n++) {
        input_of[0][n][0] = (float)n / 15, input_of[2][n][0] = (float)n / 2;
        input_of[0][n][1] = n >= 1, input_of[0][n][2] = n >= 5, input_of[0][n][3] = n >= 10;
        input_of[2][n][1] = n >= 1, input_of[2][n][2] = n >= 2;
        input_of[1][n][0] = n == 1, input_of[1][n][1] = n >= 2, input_of[1][n][2] = n >= 3;
        input_of[1][n][3] = n > 3 ? (float)(n - 3) / 2 : 0;
    }
}

/* Add how the inputs of a place change from one count to another, as inputs_of in estimate.py. */
static void add(Seen *seen, int side, int place, int from, int to) {
    int kind = (place > 0) + (place == BAR);
    for (int k = 0; k < 4; k++) {
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


/* Shapes: which points of a side hold a checker and which are made, as bits. */

typedef struct {
    uint32_t any, made;
    int highest;
    float sided[SIDED];
} Shape;

static float escape[4096]; /* share of rolls that a checker can play whole, beyond a block */

static void prepare_escapes(void) {
    for (int block = 0; block < 4096; block++) {
        int rolls = 0;
        for (int a = 1; a < 7; a++)
            for (int b = 1; b < 7; b++)
                rolls += a + b > 6 && !(block >> (a + b - 1) & 1)
                         && (!(block >> (a - 1) & 1) || !(block >> (b - 1) & 1));
        escape[block] = (float)rolls / 36;
    }
}

static Shape shape_of(const int8_t *side) {
    Shape shape;
    uint32_t run;
    float least = 1;
#ifdef __AVX2__
    __m256i counts = _mm256_loadu_si256((const __m256i *)side);
    shape.any = (uint32_t)_mm256_movemask_epi8(_mm256_cmpgt_epi8(counts, _mm256_setzero_si256()));
    shape.made = (uint32_t)_mm256_movemask_epi8(_mm256_cmpgt_epi8(counts, _mm256_set1_epi8(1)));
#else
    shape.any = shape.made = 0;
    for (int place = 1; place < PLACES; place++)
        shape.any |= (uint32_t)(side[place] > 0) << place,
            shape.made |= (uint32_t)(side[place] > 1) << place;
#endif
    shape.any &= 0x3fffffe, shape.made &= 0x1fffffe;
    shape.highest = shape.any ? 31 - __builtin_clz(shape.any) : 0;
    run = shape.made & shape.made >> 1;
    run &= run >> 2;
    shape.sided[0] = run != 0;
    run &= shape.made >> 4;
    shape.sided[1] = run != 0;
    run &= shape.made >> 5;
    shape.sided[2] = run != 0;
    for (int from = 0; from < 7; from++)
        least = fminf(least, escape[shape.made >> (from + 1) & 0xfff]);
    shape.sided[3] = 1 - least;
    return shape;
}

static uint32_t turned(uint32_t bits) { /* bit p becomes bit 25 - p */
    bits = (bits >> 1 & 0x55555555) | (bits & 0x55555555) << 1;
    bits = (bits >> 2 & 0x33333333) | (bits & 0x33333333) << 2;
    bits = (bits >> 4 & 0x0f0f0f0f) | (bits & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(bits) >> 6;
}

/* What a side may do to the other one: shares of rolls that hit a blot, a far one, two, and how
   well its last checker is held.  All 21 rolls are looked at together, doubles behind the others. */

enum { ROLLS = 16 };
typedef uint32_t Rolls __attribute__((vector_size(4 * ROLLS)));
static Rolls large[2], small[2], weight[2];

static void prepare_rolls(void) {
    for (int a = 1, others = 0; a < 7; a++)
        for (int b = 1; b <= a; b++) {
            int doubled = a == b, lane = doubled ? a - 1 : others++;
            large[doubled][lane] = (uint32_t)a, small[doubled][lane] = (uint32_t)b;
            weight[doubled][lane] = doubled ? 1 : 2;
        }
}

static void cross(const Shape *mine, int bar, const Shape *theirs, float *shares) {
    enum { POINTS = 0x1fffffe, FAR = 0x1fe0000 };
    uint32_t blots = turned(theirs->any & ~theirs->made & POINTS);
    shares[3] = 1 - escape[theirs->made >> (26 - mine->highest) & 0xfff];
    shares[0] = shares[1] = shares[2] = 0;
    if (!blots) return;
    uint32_t open = ~turned(theirs->made) & POINTS, from = mine->any & POINTS;
    Rolls counted = {0};
    for (int doubled = 0; doubled < 2; doubled++) {
        Rolls one, other, hits, a = large[doubled], b = small[doubled];
        if (!bar) one = from >> a, other = from >> b;
        else one = 0x2000000 >> a & open, other = 0x2000000 >> b & open;
        hits = one | other;
        if (bar < 2) {
            Rolls on = bar ? (from | one) >> b & (Rolls)(one != 0) : (one & open) >> b;
            hits |= on;
            if (!doubled) hits |= bar ? (from | other) >> a & (Rolls)(other != 0) : (other & open) >> a;
            else {
                on = (on & open) >> a, hits |= on;
                on = (on & open) >> a, hits |= on;
            }
        }
        hits &= blots;
        counted += weight[doubled] * (((Rolls)(hits != 0) & 1) + ((Rolls)((hits & FAR) != 0) & 256)
                                      + ((Rolls)((hits & (hits - 1)) != 0) & 65536));
    }
    uint32_t total = 0;
    for (int lane = 0; lane < ROLLS; lane++) total += counted[lane];
    shares[0] = (float)(total & 255) / 36, shares[1] = (float)(total >> 8 & 255) / 36;
    shares[2] = (float)(total >> 16) / 36;
}

static void see(Seen *seen, int first, int count, const float *values, const float *before) {
    for (int k = 0; k < count; k++) {
        float change = before ? values[k] - before[k] : values[k];
        if (change != 0)
            seen->index[seen->count] = first + k, seen->value[seen->count++] = change;
    }
}

static void see_sides(Seen *seen, const Shape *roller, const Shape *other) {
    see(seen, RAW, SIDED, roller->sided, NULL);
    see(seen, RAW + SIDED, SIDED, other->sided, NULL);
}

static void see_crossed(Seen *seen, const Shape *roller, int bar, const Shape *other, int other_bar) {
    float found[CROSSED];
    cross(roller, bar, other, found);
    see(seen, RAW + 2 * SIDED, CROSSED, found, NULL);
    cross(other, other_bar, roller, found);
    see(seen, RAW + 2 * SIDED + CROSSED, CROSSED, found, NULL);
}

static int class_of(const Shape *one, const Shape *other) {
    if (one->highest + other->highest < BAR) return 2;
    return one->highest < 19 || other->highest < 19;
}

static void sum(const Network *net, const Seen *seen, const Lanes *base, Lanes *sums) {
    for (int at = 0; at < WIDTH; at += BLOCK) {
        Lanes found[BLOCK];
        memcpy(found, base + at, sizeof found);
        for (int i = 0; i < seen->count; i++) {
            const Lanes *row = net->into[seen->index[i]] + at;
            for (int k = 0; k < BLOCK; k++) found[k] += seen->value[i] * row[k];
        }
        memcpy(sums + at, found, sizeof found);
    }
}

static Lanes steepness(Lanes sums) { return 1 / (1 + (Lanes)((Bits)sums & 0x7fffffff)); }

static void chances_by(const Network *net, const Lanes *sums, float *chances) {
    Lanes odds[CHANCES] = {0};
    for (int at = 0; at < WIDTH; at++) {
        Lanes given = sums[at] * steepness(sums[at]);
        for (int k = 0; k < CHANCES; k++) odds[k] += given * net->out[k][at];
    }
    for (int k = 0; k < CHANCES; k++) {
        float total = net->out_bias[k];
        for (int lane = 0; lane < LANES; lane++) total += odds[k][lane];
        chances[k] = 1 / (1 + expf(-total));
    }
}

/* As chances_of in estimate.py. */
static void bound(const int8_t *mine, const int8_t *theirs, float *c) {
    if (theirs[0] > 0) c[1] = 0;
    if (mine[0] > 0) c[3] = 0;
    c[1] = fminf(c[1], c[0]), c[2] = fminf(c[2], c[1]);
    c[3] = fminf(c[3], 1 - c[0]), c[4] = fminf(c[4], c[3]);
}

/* One step of gradient descent of the cross-entropy. */
static void learn(const Position *position, const float *target, float rate) {
    Seen seen;
    Lanes sums[WIDTH], back[WIDTH];
    float chances[CHANCES], error[CHANCES];
    Shape mine = shape_of(position->side[0]), theirs = shape_of(position->side[1]);
    Network *net = &nets[class_of(&mine, &theirs)];
    look(position, 0, &seen);
    see_sides(&seen, &mine, &theirs);
    see_crossed(&seen, &mine, position->side[0][BAR], &theirs, position->side[1][BAR]);
    sum(net, &seen, net->bias, sums);
    chances_by(net, sums, chances);
    for (int k = 0; k < CHANCES; k++) {
        error[k] = rate * (target[k] - chances[k]);
        net->out_bias[k] += error[k];
    }
    for (int at = 0; at < WIDTH; at++) {
        Lanes total = {0}, steep = steepness(sums[at]), given = sums[at] * steep;
        for (int k = 0; k < CHANCES; k++) {
            total += error[k] * net->out[k][at];
            net->out[k][at] += error[k] * given;
        }
        back[at] = total * steep * steep;
        net->bias[at] += back[at];
    }
    for (int i = 0; i < seen.count; i++) {
        Lanes *row = net->into[seen.index[i]];
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

static int highest(const int8_t *side) {
    int point = BAR;
    while (point > 0 && !side[point]) point--;
    return point;
}

/* After a turn of side 0, whether the match is over, and the chances of the other then. */
static int end_of(const Position *position, float *chances) {
    const int8_t *mine = position->side[1], *theirs = position->side[0];
    if (theirs[0] < CHECKERS) return 0;
    memset(chances, 0, CHANCES * sizeof *chances);
    chances[3] = mine[0] == 0;
    chances[4] = mine[0] == 0 && highest(mine) > 18;
    return 1;
}

/* The turns of a roll: all positions after most dice, each once. */

static Position found[MOST_TURNS];
static uint64_t found_key[MOST_TURNS], keys[2][PLACES];
static int found_count, most, largest_used;

static uint32_t slot_of[8192], slot_round[8192], rounds;

static void forget(void) { found_count = 0, rounds++; }

static void collect(const Position *position, uint64_t key, int dice, int first) {
    if (dice < most || (dice == most && dice == 1 && first < largest_used)) return;
    if (dice > most || (dice == 1 && first > largest_used)) forget();
    most = dice;
    if (dice == 1) largest_used = first;
    unsigned slot = key & 8191;
    for (; slot_round[slot] == rounds; slot = (slot + 1) & 8191)
        if (found_key[slot_of[slot]] == key) return;
    if (found_count == MOST_TURNS) exit(3);
    slot_round[slot] = rounds, slot_of[slot] = (uint32_t)found_count;
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
    most = largest_used = 0;
    forget();
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


/* A position before a roll, and the sums of what it shares with those after the turn, which are
   computed when they are needed. */
typedef struct {
    Position position;
    Shape shape[2];
    Seen seen;
    Lanes base[NETS][WIDTH];
    int ready[NETS];
} Before;

static void prepare(Before *before, const Position *position) {
    before->position = *position;
    for (int side = 0; side < 2; side++) before->shape[side] = shape_of(position->side[side]);
    look(position, 1, &before->seen);
    see_sides(&before->seen, &before->shape[1], &before->shape[0]);
    memset(before->ready, 0, sizeof before->ready);
}

/* The chances of the other side after a turn of side 0; whether the match is decided. */
static int value(Before *before, const Position *after, float *chances) {
    if (end_of(after, chances)) return 1;
    Seen seen;
    Lanes sums[WIDTH];
    Shape shape[2];
    shape[0] = shape_of(after->side[0]);
    look_again(&before->position, after, &seen);
    see(&seen, RAW + SIDED, SIDED, shape[0].sided, before->shape[0].sided);
    if (memcmp(before->position.side[1], after->side[1], PLACES)) {
        shape[1] = shape_of(after->side[1]);
        see(&seen, RAW, SIDED, shape[1].sided, before->shape[1].sided);
    } else shape[1] = before->shape[1];
    see_crossed(&seen, &shape[1], after->side[1][BAR], &shape[0], after->side[0][BAR]);
    int net = class_of(&shape[0], &shape[1]);
    if (!before->ready[net]) {
        before->ready[net] = 1;
        sum(&nets[net], &before->seen, nets[net].bias, before->base[net]);
    }
    sum(&nets[net], &seen, before->base[net], sums);
    chances_by(&nets[net], sums, chances);
    bound(after->side[1], after->side[0], chances);
    return 0;
}

/* The best of the turns found, by the least chances of the other side. */
static int best_turn(Before *before, float *chosen, int *over) {
    int best = 0;
    float least = 100;
    for (int i = 0; i < found_count; i++) {
        float chances[CHANCES];
        int ended = value(before, &found[i], chances);
        if (points(chances) < least) {
            least = points(chances), best = i, *over = ended;
            memcpy(chosen, chances, CHANCES * sizeof *chosen);
        }
    }
    return best;
}

static struct Sample {
    Position position;
    float target[CHANCES];
} kept[KEPT];
static long seen_samples;

static int happens(double share) { return (double)(draw() >> 11) / (1ull << 53) < share; }

/* A race with checkers at random. */
static Position random_race(void) {
    Position here = {0};
    int border = 1 + (int)(draw() % 23);
    for (int side = 0; side < 2; side++) {
        unsigned farthest = (unsigned)(side ? 24 - border : border);
        for (int checker = 1; checker < CHECKERS; checker++)
            here.side[side][draw() % (farthest + 1)]++;
        here.side[side][1 + draw() % farthest]++;
    }
    return here;
}

/* A position to begin with: that of the game, one after turns at random, or a race. */
static Position beginning(void) {
    static const int8_t start[PLACES] = {[6] = 5, [8] = 3, [13] = 5, [24] = 2};
    Position here = {0};
    if (happens(RACES)) return random_race();
    memcpy(here.side[0], start, PLACES), memcpy(here.side[1], start, PLACES);
    if (happens(VARIED))
        for (int count = 2 + (int)(draw() % 12); count > 0; count--) {
            float chances[CHANCES];
            turns(&here, die(), die());
            Position next = found[draw() % (unsigned)found_count];
            if (end_of(&next, chances)) break;
            here = exchanged(&next);
        }
    return here;
}

/* One match of self-play, and what is learned of it.  Each position's value at one ply, over all
   rolls, is its target, corrected by what the same would correct in the positions that follow:
   TD(lambda) without the luck of the dice. */
static int play(double rate) {
    static Position past[MOST_PLIES];
    static float values[MOST_PLIES][CHANCES], means[MOST_PLIES][CHANCES];
    static Before before;
    Position here = beginning();
    float after[CHANCES], chances[CHANCES] = {0};
    int plies = 0, ended = 0;
    while (!ended) {
        int one = die(), two = die(), over = 0;
        float mean[CHANCES] = {0}, chosen[CHANCES];
        Position next = here;
        if (plies == MOST_PLIES) return 0;
        if (one < two) { int other = one; one = two, two = other; }
        /* Doubles have the most turns: two of them, a high and a low one, stand for all. */
        int doubled = one == two ? one : die();
        prepare(&before, &here);
        for (int a = 1; a < 7; a++)
            for (int b = 1; b <= a; b++) {
                if (a == b && a != doubled && a != 7 - doubled) continue;
                turns(&here, a, b);
                int best = best_turn(&before, chances, &over);
                if (a == one && b == two) {
                    ended = over, next = found[best];
                    memcpy(chosen, chances, sizeof chosen);
                }
                for (int k = 0; k < CHANCES; k++)
                    mean[k] += (float)(3 - (a != b)) / 36 * chances[k];
            }
        flip(mean, means[plies]);
        past[plies] = here;
        memcpy(values[plies++], chosen, sizeof chosen); /* after the turn */
        here = exchanged(&next);
    }
    /* `after` is what the positions that follow correct, as the other side sees it. */
    memset(after, 0, sizeof after);
    for (int ply = plies - 1; ply >= 0; ply--) {
        float target[CHANCES];
        for (int k = 0; k < CHANCES; k++) target[k] = means[ply][k] + LAMBDA * after[k];
        struct Sample *sample = &kept[seen_samples++ % KEPT];
        sample->position = past[ply];
        memcpy(sample->target, target, sizeof target);
        learn(&past[ply], target, (float)rate);
        if (!ply) break;
        after[0] = values[ply - 1][0] - target[0];
        after[1] = target[3] - values[ply - 1][3], after[2] = target[4] - values[ply - 1][4];
        after[3] = target[1] - values[ply - 1][1], after[4] = target[2] - values[ply - 1][2];
    }
    /* Of few positions the networks would learn the details. */
    for (int i = 0; i < plies * REPLAYS && seen_samples > KEPT / 8; i++) {
        unsigned long all = seen_samples < KEPT ? (unsigned long)seen_samples : KEPT;
        struct Sample *sample = &kept[draw() % all];
        learn(&sample->position, sample->target, (float)rate);
    }
    return plies;
}

/* The file. */

/* Its numbers: first the biases, then of each unit its chances, then of each input its units. */
static float *weight_at(Network *net, int number) {
    if (number < HIDDEN) return (float *)net->bias + number;
    number -= HIDDEN;
    if (number < CHANCES) return net->out_bias + number;
    number -= CHANCES;
    if (number < CHANCES * HIDDEN)
        return (float *)net->out[number % CHANCES] + number / CHANCES;
    number -= CHANCES * HIDDEN;
    return (float *)net->into[number / HIDDEN] + number % HIDDEN;
}

static int write_line(FILE *file, Network *net, int number, int length) {
    for (int i = 0; i < length; i++)
        fprintf(file, "%s%ld", i ? " " : "", lround((double)*weight_at(net, number + i) * UNIT));
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
    fprintf(file, "# The network behind backgammon's estimate; benchmarks/train_backgammon.c made it.\n");
    fprintf(file, "format = \"plyhouse-backgammon-network-2\"\n");
    fprintf(file, "trained = \"TD(lambda) on %d ", played);
    if (played < matches) fprintf(file, "of %d ", matches);
    fprintf(file, "matches of self-play, seed %d, lambda %g, rate %g to %g", seed, LAMBDA, FIRST_RATE,
            LAST_RATE);
    if (from) fprintf(file, ", from "), write_name(file, from);
    fprintf(file, "\"\n");
    fprintf(file, "hidden = %d\n", HIDDEN);
    for (Network *net = nets; net < nets + NETS; net++) {
        int number = 0;
        fprintf(file, "\n[[networks]]\nhidden_bias = \"");
        number = write_line(file, net, number, HIDDEN);
        fprintf(file, "\"\nchances_bias = \"");
        number = write_line(file, net, number, CHANCES);
        fprintf(file, "\"\n# Of each hidden unit its weights in the five chances.\nchances = \"\"\"\n");
        for (int unit = 0; unit < HIDDEN; unit++)
            number = write_line(file, net, number, CHANCES), fputc('\n', file);
        fprintf(file, "\"\"\"\n# Of each input its weights in the hidden units.\ninputs = \"\"\"\n");
        for (int i = 0; i < INPUTS; i++)
            number = write_line(file, net, number, HIDDEN), fputc('\n', file);
        fprintf(file, "\"\"\"\n");
    }
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

static void read_numbers(FILE *file, Network *net, const char *name, int length, int unit,
                         int units) {
    find(file, name);
    if (fscanf(file, " %*[\"]") < 0) exit(4);
    for (int i = 0; i < length; i++) {
        long value;
        if (fscanf(file, "%ld", &value) != 1) exit(4);
        /* As many numbers of each input as the file has units. */
        *weight_at(net, unit + i / units * HIDDEN + i % units) = (float)((double)value / UNIT);
    }
}

static int count_networks(FILE *file) {
    char word[32];
    int count = 0;
    rewind(file);
    while (fscanf(file, " %31s", word) == 1) count += !strcmp(word, "[[networks]]");
    rewind(file);
    return count < NETS ? count : NETS;
}

/* Read the weights of a file, whose units and networks come before those that it does not have.
   The older format has one network for all positions with contact. */
static void load(const char *path) {
    FILE *file = fopen(path, "r");
    char version[64] = "";
    int units;
    if (!file) {
        perror(path);
        exit(1);
    }
    find(file, "format");
    if (fscanf(file, " \"%63[^\"]", version) != 1) exit(4);
    int old = !strcmp(version, "plyhouse-backgammon-network-1");
    find(file, "hidden");
    if (fscanf(file, "%d", &units) != 1 || units < 1 || units > HIDDEN) {
        fprintf(stderr, "%s has not 1 to %d hidden units\n", path, HIDDEN);
        exit(4);
    }
    int count = old ? 2 : count_networks(file);
    for (Network *net = nets; net < nets + count; net++) {
        if (old) rewind(file);
        for (int k = 0; k < CHANCES; k++)
            for (int at = 0; at < WIDTH; at++) net->out[k][at] *= 0.1f;
        read_numbers(file, net, "hidden_bias", units, 0, units);
        read_numbers(file, net, "chances_bias", CHANCES, HIDDEN, CHANCES);
        read_numbers(file, net, "chances", CHANCES * units, HIDDEN + CHANCES, CHANCES * units);
        read_numbers(file, net, "inputs", (old ? RAW : INPUTS) * units,
                     HIDDEN + CHANCES + CHANCES * HIDDEN, units);
        if (old)
            for (int i = 0; i < INPUTS; i++)
                for (int unit = 0; unit < units; unit++)
                    if (i >= RAW || ((i / 4 % PLACES == 0 || i / 4 % PLACES == BAR) && i % 4))
                        ((float *)net->into[i])[unit] = 0;
    }
    fclose(file);
}

/* Loss by a judge's values: lines of a kind, a number of turns, and of each turn the counts of
   both sides after it, and its value for the side that moved. */
static int judge(const char *path) {
    FILE *file = fopen(path, "r");
    int kind, count;
    double total[16] = {0}, squares[16] = {0}, rows[16] = {0};
    if (!file) return 1;
    while (fscanf(file, "%d %d", &kind, &count) == 2) {
        double best = -100, chosen = 0;
        float least = 100;
        Position here;
        Before before;
        for (int i = 0; i < count; i++) {
            Position after = {0};
            float chances[CHANCES];
            double worth;
            for (int place = 0; place < 2 * PLACES; place++) {
                int number;
                if (fscanf(file, "%d", &number) != 1) return 1;
                after.side[place / PLACES][place % PLACES] = (int8_t)number;
            }
            if (fscanf(file, "%lf", &worth) != 1) return 1;
            if (!i) here = after, prepare(&before, &here);
            value(&before, &after, chances);
            if (points(chances) < least) least = points(chances), chosen = worth;
            if (worth > best) best = worth;
        }
        for (int all = 0; all < 2; all++) {
            int k = all ? 15 : kind & 7;
            total[k] += best - chosen, squares[k] += (best - chosen) * (best - chosen), rows[k]++;
        }
    }
    for (int k = 0; k < 16; k++)
        if (rows[k])
            printf("%2d %6.0f  %.5f +- %.5f\n", k, rows[k], total[k] / rows[k],
                   1.96 * sqrt(squares[k] / rows[k]) / sqrt(rows[k]));
    return 0;
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
    prepare_escapes();
    prepare_rolls();
    for (Network *net = nets; net < nets + NETS; net++) {
        for (int i = HIDDEN + CHANCES; i < HIDDEN + CHANCES + (CHANCES + INPUTS) * HIDDEN; i++)
            *weight_at(net, i) = small_weight();
        /* Gammons are rarer than wins, and backgammons rarer than gammons. */
        net->out_bias[1] = net->out_bias[3] = -1.5f, net->out_bias[2] = net->out_bias[4] = -4;
    }
    if (count == 4 && !strcmp(given[1], "judge")) {
        memset(nets, 0, sizeof nets);
        load(given[2]);
        return judge(given[3]);
    }
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
