/**
 * @agent extras.suite
 * @description Uses what an agent only gets when its source names it. JavaScript and TypeScript alike.
 */
const checks = {
  address: () => {
    const url = new URL("../b?x=1#y", "https://bücher.example:8443/a/c");
    url.searchParams.append("q", "ä b&c");
    return [url.href, url.hostname, url.port, url.searchParams.getAll("q")[0]];
  },
  bad_address: () => {
    try {
      return new URL("no address");
    } catch (error) {
      return [error.name, error instanceof TypeError];
    }
  },
  query: () => [...new URLSearchParams("a=1&a=2&b=%C3%A4")],
  bytes: () => [...new TextEncoder().encode("ä😀\ud800")],
  text: () => new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 0xc3, 0xa4, 0xff])),
  text_in_parts: () => {
    const decoder = new TextDecoder();
    const halves = [[0xf0, 0x9f], [0x98, 0x80]].map((half) => new Uint8Array(half));
    return decoder.decode(halves[0], { stream: true }) + decoder.decode(halves[1]);
  },
  fatal: () => {
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array([0xff]));
    } catch (error) {
      return error.name;
    }
  },
  latin: () => new TextDecoder("windows-1252").decode(new Uint8Array([0x80, 0xe4])),
  base64: () => [btoa("a\u00ff\u0000"), atob(" YWJj "), refusal(() => btoa("€")), refusal(() => atob("a"))],
  random: () => {
    const numbers = crypto.getRandomValues(new Uint32Array(4));
    return [numbers.length, new Set(numbers).size, refusal(() => crypto.getRandomValues(new Float64Array(1)))];
  },
  too_random: () => refusal(() => crypto.getRandomValues(new Uint8Array(65537))),
  part_of_a_buffer: () => {
    const whole = new Uint8Array(64);
    crypto.getRandomValues(whole.subarray(16, 48));
    return [whole.slice(0, 16).every((one) => one === 0), whole.slice(16, 48).some((one) => one !== 0), whole[63]];
  },
  ids: () => [crypto.randomUUID(), crypto.randomUUID()],
  copy: (store) => {
    const one = { when: new Date(86400000), map: new Map([["a", new Set([1])]]), bytes: new Uint8Array([1, 2]) };
    one.self = one;
    const copy = structuredClone(one);
    copy.map.get("a").add(2);
    const kept = structuredClone(store.kept);
    kept.list.push(2);
    return [copy.self === copy, copy.when.getTime(), one.map.get("a").size, [...copy.bytes], kept, store.kept];
  },
  no_copy: () => refusal(() => structuredClone(() => 1)),
};

function refusal(attempt) {
  try {
    attempt();
    return "nothing was refused";
  } catch (error) {
    return error.name;
  }
}

export function check(name, store) {
  return JSON.stringify(checks[name](store));
}
