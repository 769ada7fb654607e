/* Values of early positions of connect four, for benchmarks/connect_four_book.py, which compiles it.

       connect_four_book PLIES ALL FILE BITS

   The book of a seat has all positions with at most PLIES discs in which the seat moves and has so
   far followed the book, and the position after its move in each of them.  Positions with at most
   ALL discs are added.  Each line appended to FILE is "key value": the lesser key of a position and
   its mirror image, and 1, 0 or -1 for the seat to move.  A later run continues from FILE.  The
   table has 2^BITS entries of 8 bytes and lives as long as the program.

   Sets of cells and keys as of J. Tromp; threats by shifts and safe moves as of P. Pons; follow-up
   after V. Allis. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef uint64_t set;
enum { COLUMNS = 7, ROWS = 6, HEIGHT = ROWS + 1, KEPT = 7, LOOKED_UP = 14 };
static const set BOTTOMS = 0x0000040810204081ULL;
static const set BOARD = 0x0000040810204081ULL * 63;
static const set LEAD = 0x0000040810204081ULL * 21;   /* rows 1, 3, 5: the mover's in follow-up */
static const set FOLLOW = 0x0000040810204081ULL * 42; /* rows 2, 4, 6 */
static const int ORDER[COLUMNS] = {3, 2, 4, 1, 5, 0, 6};

static set *table;
static set mask;
static uint64_t nodes;

static set threats(set discs, set taken) {
    set found = (discs << 1) & (discs << 2) & (discs << 3);
    for (int step = HEIGHT - 1; step <= HEIGHT + 1; step++) {
        set pair = (discs << step) & (discs << 2 * step);
        found |= pair & (discs << 3 * step);
        found |= pair & (discs >> step);
        pair = (discs >> step) & (discs >> 2 * step);
        found |= pair & (discs << step);
        found |= pair & (discs >> 3 * step);
    }
    return found & (BOARD ^ taken);
}

static int fits(set cells) {
    set found = 0, pair = cells & (cells >> 1);
    found |= pair & (pair >> 2);
    for (int step = HEIGHT - 1; step <= HEIGHT + 1; step++) {
        pair = cells & (cells >> step);
        found |= pair & (pair >> 2 * step);
    }
    return found != 0;
}

static set mirrored(set key) {
    return (key & 0x7F) << 42 | (key & 0x3F80) << 28 | (key & 0x1FC000) << 14 | (key & 0xFE00000)
        | (key >> 14 & 0x1FC000) | (key >> 28 & 0x3F80) | (key >> 42 & 0x7F);
}

static set key_of(set mine, set taken) {
    set key = mine + taken + BOTTOMS, other = mirrored(key);
    return other < key ? other : key;
}

static set *slot(set key) {
    return table + 2 * ((key * 0x9E3779B97F4A7C15ULL >> 20) & mask);
}

/* An entry is the key (49 bits), the work (11 bits), then upper and lower bound, plus one. */
static int found(set key) {
    set *at = slot(key);
    if (at[0] >> 15 == key) return at[0] & 15;
    if (at[1] >> 15 == key) return at[1] & 15;
    return -1;
}

static void keep(set key, uint64_t spent, int low, int high) {
    set *at = slot(key);
    int work = 64 - __builtin_clzll(spent | 1);
    set entry = key << 15 | (set)work << 4 | (high + 1) << 2 | (low + 1);
    if (at[0] >> 15 == key || work >= (int)(at[0] >> 4 & 2047)) {
        if (at[0] >> 15 != key) at[1] = at[0];
        at[0] = entry;
    } else {
        at[1] = entry;
    }
}

/* The mover, who owns mine, cannot win at once.  beta = alpha + 1. */
static int search(set mine, set taken, int left, int alpha, int beta) {
    nodes++;
    if (left == 0) return 0;
    set theirs = mine ^ taken, moves = (taken + BOTTOMS) & BOARD;
    set feared = threats(theirs, taken), forced = moves & feared;
    if (forced) {
        if (forced & (forced - 1)) return -1;
        moves = forced;
    }
    moves &= ~(feared >> 1);
    if (!moves) return -1;
    if (left <= 2) return 0;
    set empty = BOARD ^ taken;
    if (!((taken + BOTTOMS) & FOLLOW) && !fits(mine | (empty & LEAD))) {
        if (alpha >= 0) return 0;
        if (fits(theirs | (empty & FOLLOW))) return -1;
        beta = 0;
    }
    if (beta > 0 && !fits(mine | empty)) return 0;
    if (alpha < 0 && !fits(theirs | empty)) return 0;
    int kept = left >= KEPT, low = -1, high = 1, known;
    set key = 0;
    if (kept) {
        key = key_of(mine, taken);
        if ((known = found(key)) >= 0) {
            low = (known & 3) - 1;
            high = (known >> 2) - 1;
            if (low >= beta) return low;
            if (high <= alpha) return high;
        }
    }
    uint64_t before = nodes;
    int best = -1;
    if (!(moves & (moves - 1))) {
        best = -search(theirs, taken | moves, left - 1, -beta, -alpha);
    } else {
        set cells[COLUMNS], keys[COLUMNS];
        int rank[COLUMNS], count = 0, looks = left > LOOKED_UP;
        set good = left & 1 ? FOLLOW : LEAD, own = threats(mine, taken);
        for (int i = 0; i < COLUMNS; i++) {
            set cell = moves & (63ULL << HEIGHT * ORDER[i]);
            if (!cell) continue;
            set next = taken | cell, won = threats(mine | cell, next);
            set now = won & (next + BOTTOMS);
            if (now && ((now & (now - 1)) || (now << 1 & won))) {
                best = 1;
                break;
            }
            int value = __builtin_popcountll(won) + 2 * __builtin_popcountll(won & good & ~(next + BOTTOMS))
                - (cell << 1 & own ? 3 : 0);
            if (looks) {
                keys[count] = key_of(theirs, next);
                __builtin_prefetch(slot(keys[count]));
            }
            int at = count++;
            while (at && rank[at - 1] < value) {
                rank[at] = rank[at - 1];
                cells[at] = cells[at - 1];
                at--;
            }
            rank[at] = value;
            cells[at] = cell;
        }
        if (looks)
            for (int i = 0; i < count && best < beta; i++)
                if ((known = found(keys[i])) >= 0 && 1 - (known >> 2) >= beta) best = 1 - (known >> 2);
        for (int i = 0; i < count && best < beta; i++) {
            int value = -search(theirs, taken | cells[i], left - 1, -beta, -alpha);
            if (value > best) best = value;
        }
    }
    if (kept) {
        if (best >= beta) low = best; else high = best;
        keep(key, nodes - before, low, high);
    }
    return best;
}

static int won_at_once(set mine, set taken) {
    return (threats(mine, taken) & (taken + BOTTOMS)) != 0;
}

static int is_at_most(set mine, set taken, int left, int most) {
    if (most > 0) return 1;
    return !won_at_once(mine, taken) && search(mine, taken, left, most, most + 1) <= most;
}

typedef struct { set key; int value; } line;
static FILE *file;

enum { PLACES = 1 << 20, UNKNOWN = 2 };
static line known[PLACES];

static line *place(set key) {
    set at = key * 0x9E3779B97F4A7C15ULL >> 44;
    while (known[at].key && known[at].key != key) at = (at + 1) % PLACES;
    return known + at;
}

static int value_of(set key) {
    line *at = place(key);
    return at->key ? at->value : UNKNOWN;
}

static void write_down(set key, int value) {
    line *at = place(key);
    if (at->key) return;
    *at = (line){key, value};
    fprintf(file, "%llu %d\n", (unsigned long long)key, value);
    fflush(file);
}

/* The sets of a key: in each column the highest bit marks the first empty cell. */
static void decode(set key, set *mine, set *taken) {
    *mine = *taken = 0;
    for (int c = 0; c < COLUMNS; c++) {
        set column = key >> HEIGHT * c & 127;
        int height = 63 - __builtin_clzll(column);
        *taken |= ((1ULL << height) - 1) << HEIGHT * c;
        *mine |= (column ^ 1ULL << height) << HEIGHT * c;
    }
}

static int solved(set mine, set taken, int left) {
    int value = value_of(key_of(mine, taken));
    if (value == UNKNOWN) {
        value = !is_at_most(mine, taken, left, 0) ? 1 : is_at_most(mine, taken, left, -1) ? -1 : 0;
        write_down(key_of(mine, taken), value);
    }
    return value;
}

/* The cell of a best move, preferring what the book or the table knows. */
static set best_move(set mine, set taken, int left, int value) {
    for (int pass = 0; pass < 3; pass++)
        for (int i = 0; i < COLUMNS; i++) {
            set cell = (taken + BOTTOMS) & (63ULL << HEIGHT * ORDER[i]), theirs = mine ^ taken;
            if (!cell || won_at_once(theirs, taken | cell)) continue;
            set key = key_of(theirs, taken | cell);
            int bound = pass == 0 ? value_of(key) : found(key);
            if (pass == 1 && bound >= 0) bound = (bound >> 2) - 1;
            else if (pass == 1) bound = UNKNOWN;
            if (pass < 2 ? bound <= -value : is_at_most(theirs, taken | cell, left - 1, -value)) {
                write_down(key, -value);
                return cell;
            }
        }
    return 0; /* every move lets the opponent win at once */
}

typedef struct { set *keys; long count, room; } list;

static void add_children(list *to, set mine, set taken) {
    for (int c = 0; c < COLUMNS; c++) {
        set cell = (taken + BOTTOMS) & (63ULL << HEIGHT * c), theirs = mine ^ taken;
        if (!cell || (threats(mine, taken) & cell) || won_at_once(theirs, taken | cell)) continue;
        if (to->count == to->room) {
            to->room = 2 * to->room + 64;
            to->keys = realloc(to->keys, to->room * sizeof(set));
        }
        to->keys[to->count++] = key_of(theirs, taken | cell);
    }
}

static int by_key(const void *a, const void *b) {
    set x = *(const set *)a, y = *(const set *)b;
    return x < y ? -1 : x > y;
}

static void unite(list *of) {
    long unique = 0;
    qsort(of->keys, of->count, sizeof(set), by_key);
    for (long i = 0; i < of->count; i++)
        if (!i || of->keys[i] != of->keys[i - 1]) of->keys[unique++] = of->keys[i];
    of->count = unique;
}

int main(int argc, char **argv) {
    if (argc < 5) return 2;
    int plies = atoi(argv[1]), all = atoi(argv[2]), bits = atoi(argv[4]), value;
    size_t bytes = sizeof *table << bits;
    table = aligned_alloc(1 << 21, bytes);
    file = fopen(argv[3], "a+");
    if (!table || !file) return 1;
    madvise(table, bytes, MADV_HUGEPAGE);
    memset(table, 0, bytes);
    mask = ((set)1 << (bits - 1)) - 1;
    unsigned long long key;
    rewind(file);
    while (fscanf(file, "%llu %d", &key, &value) == 2) *place(key) = (line){key, value};
    fseek(file, 0, SEEK_END);
    list book[COLUMNS * ROWS + 3] = {{0}}, every[COLUMNS * ROWS + 3] = {{0}};
    book[0] = (list){malloc(sizeof(set)), 1, 1};
    every[0] = (list){malloc(sizeof(set)), 1, 1};
    book[0].keys[0] = every[0].keys[0] = BOTTOMS;
    add_children(book + 1, 0, 0);
    set mine, taken;
    for (int ply = 0; ply <= plies; ply++) {
        int left = COLUMNS * ROWS - ply;
        unite(book + ply);
        for (long i = 0; i < book[ply].count; i++) {
            decode(book[ply].keys[i], &mine, &taken);
            set cell = best_move(mine, taken, left, solved(mine, taken, left));
            if (cell) add_children(book + ply + 2, mine ^ taken, taken | cell);
        }
        fprintf(stderr, "%d plies: %ld in a book, %llu nodes\n", ply, book[ply].count,
                (unsigned long long)nodes);
    }
    for (int ply = 0; ply <= all; ply++) {
        unite(every + ply);
        for (long i = 0; i < every[ply].count; i++) {
            decode(every[ply].keys[i], &mine, &taken);
            solved(mine, taken, COLUMNS * ROWS - ply);
            add_children(every + ply + 1, mine, taken);
        }
        fprintf(stderr, "%d plies: %ld in all, %llu nodes\n", ply, every[ply].count,
                (unsigned long long)nodes);
    }
    return 0;
}
