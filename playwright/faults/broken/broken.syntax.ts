/**
 * @agent broken.syntax
 * @description Cannot be read.
 * @tool break_syntax
 * @tool-description Breaks.
 * @tool-params {"type": "object", "properties": {}}
 * @preload true
 */
export function onToolCall(name: string, {
