/**
 * @agent broken.endless
 * @description Does not end loading.
 * @tool break_endless
 * @tool-description Breaks.
 * @tool-params {"type": "object", "properties": {}}
 * @preload true
 */
for (;;);

export const onToolCall = () => "never";
