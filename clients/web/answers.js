// Answers of the server as data.

/**
 * Return the server's answer as data; throws an `Error` with the number of the status otherwise.
 * @param {string} url
 * @returns {Promise<unknown>}
 */
export async function ask(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(String(response.status));
  return response.json();
}
