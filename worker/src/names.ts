/** `onToolCall` -> `on_tool_call`: how Python and Lua agents spell the contract's names. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
