// Which action to play. Knows nothing of connections.
//
// An observation is what the game shows to our seat. Every game has `seat`, `to_move` and `legal`
// (the actions we may play now, as text); the games that we know also have `board`: rows from the
// top, one character per cell.

const LINES = [[0, 1], [1, 0], [1, 1], [1, -1]];

// Per game: our marks, how many in a line win, and where an action puts a mark.
const GRIDS = {
  connect_four: {
    marks: "xo",
    need: (observation) => observation.connect,
    cell: (board, action) => {
      const column = Number(action) - 1;
      let row = board.length - 1;
      while (row >= 0 && board[row][column] !== ".") row -= 1;
      return [row, column];
    },
  },
  tic_tac_toe: {
    marks: "XO",
    need: () => 3,
    cell: (board, action) => [
      board.length - Number(action.slice(1)),
      action.charCodeAt(0) - "a".charCodeAt(0),
    ],
  },
};

/** Choose one of `observation.legal`. `game` is the game with its parameters, as in `match`. */
export function choose(game, observation, random = Math.random) {
  const grid = GRIDS[game.split("(")[0]];
  const candidates = grid ? lookAhead(grid, observation) : observation.legal;
  return candidates[Math.floor(random() * candidates.length)];
}

/** The legal actions that are best one ply ahead: win, do not lose, stay near the middle. */
function lookAhead(grid, observation) {
  const { board, legal, seat } = observation;
  const need = grid.need(observation);
  const [mine, theirs] = [grid.marks[seat], grid.marks[1 - seat]];

  const wins = (position, action, mark) => {
    const [row, column] = grid.cell(position, action);
    return row >= 0 && longest(put(position, row, column, mark), row, column) >= need;
  };

  const winning = legal.filter((action) => wins(board, action, mine));
  if (winning.length > 0) return winning;
  const safe = legal.filter((action) => {
    const [row, column] = grid.cell(board, action);
    const after = put(board, row, column, mine);
    const replies = legal.filter((reply) => {
      const [r, c] = grid.cell(after, reply);
      return r >= 0 && after[r][c] === ".";
    });
    return !replies.some((reply) => wins(after, reply, theirs));
  });
  const options = safe.length > 0 ? safe : legal;
  const distance = (action) => {
    const [row, column] = grid.cell(board, action);
    const sideways = Math.abs(column - (board[0].length - 1) / 2);
    // Discs fall: only the column is ours to choose. Elsewhere the middle of the board counts.
    return grid === GRIDS.connect_four
      ? sideways
      : sideways + Math.abs(row - (board.length - 1) / 2);
  };
  const nearest = Math.min(...options.map(distance));
  return options.filter((action) => distance(action) === nearest);
}

function put(board, row, column, mark) {
  return board.map((line, index) =>
    index === row ? line.slice(0, column) + mark + line.slice(column + 1) : line);
}

/** Length of the longest line through a cell. */
function longest(board, row, column) {
  const mark = board[row][column];
  const run = (down, right) => {
    let length = 0;
    while (board[row + down * (length + 1)]?.[column + right * (length + 1)] === mark) length += 1;
    return length;
  };
  return Math.max(...LINES.map(([down, right]) => 1 + run(down, right) + run(-down, -right)));
}
