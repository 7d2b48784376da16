/**
 * @agent ferry.mood
 * @description Keeps the mood, and counts what happens.
 * @preload true
 * @api studio.history
 * @hook conversationStart
 * @hook beforeResponse
 * @hook afterResponse
 * @hook afterToolCall
 * @hook afterUserEdit
 * @command @mood setMood
 */
function note(store, event, facts) {
  store.events = [...(store.events ?? []), [event, facts]];
}

export function onLoad(store) {
  return `Mood: ${store.mood}`;
}

export function setMood(args, store, studio, context) {
  if (!args.trim()) return "Say which mood.";
  store.mood = args.trim();
  studio.toast(`The mood is ${store.mood} (${context.invokedBy})`);
}

export function onConversationStart(event, store) {
  note(store, "conversationStart", event.isNewConversation);
}

export async function onBeforeResponse(event, store, studio) {
  const before = await studio.history.search("everything");
  note(store, "beforeResponse", before.map((turn) => turn.index));
}

export function onAfterToolCall(event, store) {
  note(store, "afterToolCall", [event.agentId, event.toolName, event.toolCallId]);
}

export function onAfterResponse(event, store) {
  note(store, "afterResponse", [event.responseText, event.toolCalls.length, event.stopped]);
}

export function onAfterUserEdit(event, store) {
  note(store, "afterUserEdit", [event.deletedToolCallIds, event.lastViableToolCallId]);
}
