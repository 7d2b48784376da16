/**
 * @agent skarn.logbook
 * @version 1.2.0
 * @description Keeps the logbook of the light:
 *   what happened, and who was told.
 *
 * @tool log_event
 * @tool-description Write something that happened into the logbook.
 * @tool-params {
 *   "type": "object",
 *   "properties": {
 *     "what": {"type": "string", "description": "One short sentence"},
 *     "importance": {"enum": ["low", "high"]}
 *   },
 *   "required": ["what"]
 * }
 *
 * @tool read_log
 * @tool-description Read the logbook. Takes no arguments.
 *
 * @command @log logCommand
 *
 * @preload true
 * @api studio.history
 * @lib tally
 * @hook conversationStart
 * @hook beforeResponse
 * @hook afterResponse
 * @hook afterToolCall
 * @hook afterUserEdit
 * @debug true
 */

// store: { events: [{ what, importance, toolCallId? }], turns, others, startedLate }

export function onLoad(store) {
  if (!store.events?.length) return null;
  return `Logbook:\n${store.events.map(({ what }) => `- ${what}`).join("\n")}`;
}

export async function onToolCall(toolName, args, store, studio, context) {
  if (toolName === "read_log") {
    const mentions = await studio.history.search("logbook");
    const events = store.events ?? [];
    const kinds = tally.count(events.map(({ importance }) => importance));
    return JSON.stringify({ events, kinds, mentions: mentions.length });
  }
  add(store, args.what, args.importance ?? "low", context.toolCallId);
  studio.log(`Logbook: ${args.what}`);
  return `Written: ${args.what}`;
}

/** `@log the lamp was cleaned`: a returned text keeps the dialog open and says what is wrong. */
export function logCommand(args, store, studio) {
  if (!args.trim()) return "Write what happened, for example: the lamp was cleaned";
  add(store, args.trim(), "low");
  studio.toast("Written into the logbook");
}

export function onConversationStart(event, store) {
  store.startedLate = !event.isNewConversation;
}

export function onBeforeResponse(event, store) {
  if (!event.regenerate) store.turns = (store.turns ?? 0) + 1;
}

export function onAfterResponse(event, store) {
  store.lastAnswerStopped = event.stopped;
}

export function onAfterToolCall(event, store) {
  store.others = [...new Set([...(store.others ?? []), event.agentId])];
}

/** An edit took tool calls out of the conversation: what they wrote goes, too. */
export function onAfterUserEdit(event, store) {
  const gone = new Set(event.deletedToolCallIds);
  store.events = (store.events ?? []).filter(({ toolCallId }) => !gone.has(toolCallId));
}

function add(store, what, importance, toolCallId) {
  store.events = [...(store.events ?? []), { what, importance, toolCallId }];
}
