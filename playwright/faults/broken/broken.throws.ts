/**
 * @agent broken.throws
 * @description Throws when it is loaded.
 * @tool break_throws
 * @tool-description Breaks.
 * @tool-params {"type": "object", "properties": {}}
 * @preload true
 */
const hands: string[] = [];
if (hands.length === 0) throw new Error("no hands");

export const onToolCall = (): string => "never";
