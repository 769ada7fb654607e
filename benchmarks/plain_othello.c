/* Othello solved as somebody might write it in an afternoon: alpha-beta with null windows over two
   machine words, squares that leave the fewest replies first, no table.  Prints the score and the
   positions looked at; benchmarks/endgames.py compiles it.

       plain_othello BOARD MOVER        64 of "X", "O", "-", then "X" or "O" */
#include <stdio.h>
typedef unsigned long long set;
static unsigned long long nodes;
static set line(set mine, set inner, int step) {
    set up = inner & mine << step, down = inner & mine >> step;
    for (int i = 0; i < 5; i++) up |= inner & up << step, down |= inner & down >> step;
    return up << step | down >> step;
}
static set replies(set mine, set theirs) {
    set inner = theirs & 0x7E7E7E7E7E7E7E7EULL;
    return (line(mine, inner, 1) | line(mine, inner, 7) | line(mine, inner, 9) |
            line(mine, theirs, 8)) & ~(mine | theirs);
}
static set along(set bit, set mine, set inner, int step) {
    set run = 0, next = bit << step, found = 0;
    for (; next & inner; next <<= step) run |= next;
    if (next & mine) found = run;
    for (run = 0, next = bit >> step; next & inner; next >>= step) run |= next;
    return next & mine ? found | run : found;
}
static set turned(set bit, set mine, set theirs) {
    set inner = theirs & 0x7E7E7E7E7E7E7E7EULL;
    return along(bit, mine, inner, 1) | along(bit, mine, inner, 7) | along(bit, mine, inner, 9) |
           along(bit, mine, theirs, 8);
}
static int result(set mine, set theirs) {
    int m = __builtin_popcountll(mine), t = __builtin_popcountll(theirs);
    return m > t ? 64 - 2 * t : m < t ? 2 * m - 64 : 0;
}
static int search(set mine, set theirs, int alpha, int beta, int passed) {
    set open = replies(mine, theirs), m[34], t[34];
    int count[34], n = 0, best = -65;
    nodes++;
    if (!open) return passed ? result(mine, theirs) : -search(theirs, mine, -beta, -alpha, 1);
    for (; open; open &= open - 1, n++) {
        set bit = open & -open, flips = turned(bit, mine, theirs);
        set mm = theirs ^ flips, tt = mine | bit | flips;
        int c = __builtin_popcountll(replies(mm, tt)), i = n;
        for (; i > 0 && count[i - 1] > c; i--)
            count[i] = count[i - 1], m[i] = m[i - 1], t[i] = t[i - 1];
        count[i] = c, m[i] = mm, t[i] = tt;
    }
    for (int i = 0; i < n; i++) {
        int value = i ? -search(m[i], t[i], -alpha - 1, -alpha, 0) : -65;
        if (!i || (value > alpha && value < beta)) value = -search(m[i], t[i], -beta, -alpha, 0);
        if (value > best) best = value;
        if (value > alpha) alpha = value;
        if (alpha >= beta) break;
    }
    return best;
}
int main(int argc, char **argv) {
    set black = 0, white = 0;
    for (int i = 0; i < 64; i++) {
        black |= (set)(argv[1][i] == 'X') << i;
        white |= (set)(argv[1][i] == 'O') << i;
    }
    int first = argv[2][0] == 'X';
    int value = search(first ? black : white, first ? white : black, -64, 64, 0);
    printf("%d %llu\n", value, nodes);
    return 0;
}
