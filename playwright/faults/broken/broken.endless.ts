/**
 * @agent broken.endless
 * @description Does not end loading.
 * @tool break_endless
 * @tool-description Breaks.
 * @tool-params {"type": "object", "properties": {}}
 * @preload true
 */
const always: boolean = true;
while (always);

export const onToolCall = (): string => "never";
