/** The rules of connect four, for servers that have none: 7 columns, 6 rows, 4 in a line. */

const COLUMNS = 7;
const ROWS = 6;

/** An empty board, column by column from the bottom: -1 is a free cell. */
export const empty = () => new Array(COLUMNS * ROWS).fill(-1);

/** The cell where a disc of a column falls, or -1 if the column is full or none. */
export function landing(board, column) {
  if (!Number.isInteger(column) || column < 0 || column >= COLUMNS) return -1;
  for (let cell = column * ROWS; cell < (column + 1) * ROWS; cell++) if (board[cell] < 0) return cell;
  return -1;
}

/** Whether the disc in a cell makes four in a line. */
export function wins(board, cell) {
  const column = Math.floor(cell / ROWS);
  const row = cell % ROWS;
  const seat = board[cell];
  const run = (right, up) => {
    let length = 0;
    let x = column + right;
    let y = row + up;
    while (x >= 0 && x < COLUMNS && y >= 0 && y < ROWS && board[x * ROWS + y] === seat) {
      length += 1;
      x += right;
      y += up;
    }
    return length;
  };
  const lines = [[0, 1], [1, 0], [1, 1], [1, -1]];
  return lines.some(([right, up]) => 1 + run(right, up) + run(-right, -up) >= 4);
}
