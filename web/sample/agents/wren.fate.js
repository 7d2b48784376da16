/**
 * @agent wren.fate
 * @version 1.0
 * @description Rolls real dice for the story and remembers how they fell.
 *
 * @tool roll_dice
 * @tool-description Roll dice when the outcome of an action is uncertain. Returns each die and the total.
 * @tool-params {
 *   "type": "object",
 *   "properties": {
 *     "sides": {"type": "integer", "minimum": 2, "maximum": 1000, "description": "Sides of each die; 20 when left out"},
 *     "count": {"type": "integer", "minimum": 1, "maximum": 20, "description": "How many dice; 1 when left out"},
 *     "modifier": {"type": "integer", "minimum": -100, "maximum": 100, "description": "Added to the sum"},
 *     "reason": {"type": "string", "description": "What the roll decides, in a few words"}
 *   }
 * }
 *
 * @command @roll rollCommand
 *
 * @preload true
 * @lib dice
 */

// store: { rolls: [{ text, reason, toolCallId? }] }, the newest last
const KEPT = 12;

function record(store, roll, reason, toolCallId) {
  const entry = { text: dice.describe(roll), reason };
  if (toolCallId !== undefined) entry.toolCallId = toolCallId;
  store.rolls = [...(store.rolls ?? []), entry].slice(-KEPT);
}

export function onLoad(store) {
  if (!store.rolls?.length) return null;
  const lines = store.rolls.map(({ text, reason }) => `- ${text}${reason ? ` (${reason})` : ""}`);
  return `How the dice fell so far, oldest first:\n${lines.join("\n")}`;
}

export function onToolCall(toolName, args, store, studio, context) {
  if (toolName !== "roll_dice") return `There is no tool ${toolName} here.`;
  const roll = dice.roll(args.count ?? 1, args.sides ?? 20, args.modifier ?? 0);
  const reason = (args.reason ?? "").trim();
  record(store, roll, reason, context.toolCallId);
  studio.log(`Rolled ${dice.describe(roll)}${reason ? `: ${reason}` : ""}`);
  return dice.describe(roll);
}

export function rollCommand(args, store, studio) {
  const wanted = dice.parse(args.trim() || "1d20");
  if (!wanted) return "Write dice as 2d6+1, d20 or 3d8-2: at most 20 dice of 2 to 1000 sides.";
  const roll = dice.roll(wanted.count, wanted.sides, wanted.modifier);
  record(store, roll, "rolled by hand");
  studio.toast(dice.describe(roll));
  studio.log(`Rolled by hand: ${dice.describe(roll)}`);
}
