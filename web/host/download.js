// A large file in one piece, with its progress. Not by fetch: there every chunk would pass through
// the page's main thread to be counted.

/**
 * The bytes at `url`; `progress` hears from time to time how many are there. Rejects in words.
 * @param {string} url
 * @param {(bytes: number) => void} progress
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
export function download(url, progress) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("GET", url);
    request.responseType = "arraybuffer";
    request.onprogress = ({ loaded }) => progress(loaded);
    request.onload = () => {
      if (request.status === 200) resolve(new Uint8Array(request.response));
      else reject(new Error(`${url} could not be loaded: HTTP ${request.status}`));
    };
    request.onerror = () => reject(new Error(`${url} could not be loaded or broke off`));
    request.send();
  });
}
