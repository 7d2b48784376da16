/**
 * @agent studio.sub-agent
 * @version 1.0.0
 * @description Runs a prompt file: answers a tool call with a model call of its own.
 *
 * @api studio.model
 * @api studio.history
 * @api studio.context
 * @api studio.grants
 */

// context.config is {meta, promptBody}; the player fills meta with the front matter, the overrides
// and the defaults, and with contextFiles, the context files that its `context` selects.

const MACRO = /%%(?:(CONTEXT|HISTORY|CHARACTER_NAME)|(STORE|ARG):([^%\n]+))%%/g;

export async function onToolCall(toolName, args, store, studio, context) {
  const { meta, promptBody } = context.config;
  if (!meta || typeof promptBody !== "string") return "This sub-agent has no prompt file.";
  const request = new Request(meta, args, studio, context);
  try {
    const system = await request.systemPrompt(promptBody);
    const messages = [
      ...(await request.earlierTurns(promptBody)),
      { role: "user", content: question(args) },
    ];
    const { model, temperature, topP } = meta;
    const reply = await studio.callModel(system, messages, meta.maxTokens, {
      model,
      temperature,
      topP,
    });
    return reply.trim() || "[The sub-agent gave no answer.]";
  } catch (error) {
    return `[The sub-agent could not answer: ${error.message}]`;
  }
}

class Request {
  constructor(meta, args, studio, context) {
    this.meta = meta;
    this.args = args;
    this.studio = studio;
    this.context = context;
  }

  /** The prompt with its macros expanded once; context that it gives no place comes behind it. */
  async systemPrompt(body) {
    const parts = [];
    let end = 0;
    for (const match of body.matchAll(MACRO)) {
      parts.push(body.slice(end, match.index), await this.expand(match));
      end = match.index + match[0].length;
    }
    parts.push(body.slice(end));
    if (!body.includes("%%CONTEXT%%")) parts.push("\n\n", await this.files());
    return parts.join("").trim();
  }

  expand([whole, plain, kind, argument]) {
    if (plain === "CONTEXT") return this.files();
    if (plain === "HISTORY") return this.transcript();
    if (plain === "CHARACTER_NAME") return this.context.characterName;
    return kind === "STORE" ? this.storeOf(argument.trim()) : this.argument(argument.trim(), whole);
  }

  argument(field, whole) {
    const declared = this.meta.parameters?.properties ?? {};
    if (Object.hasOwn(this.args, field)) return asText(this.args[field]);
    return Object.hasOwn(declared, field) ? "" : whole;
  }

  async storeOf(ref) {
    try {
      return JSON.stringify(await this.studio.grants.readStore(ref), null, 2);
    } catch (error) {
      return `[The store of ${ref} cannot be read: ${error.message}]`;
    }
  }

  async files() {
    const texts = [];
    for (const name of this.meta.contextFiles ?? []) {
      const text = await this.studio.context.readFile(name);
      if (text) texts.push(`### ${name}\n${text.trim()}`);
    }
    return texts.join("\n\n");
  }

  async transcript() {
    const turns = await this.turns();
    return turns.map(({ role, content }) => `${role}: ${content}`).join("\n\n");
  }

  /** The turns as messages, unless the prompt has a place for them. */
  async earlierTurns(body) {
    if (body.includes("%%HISTORY%%")) return [];
    return (await this.turns()).map(({ role, content }) => ({ role, content }));
  }

  async turns() {
    const { history } = this.meta;
    if (!history || history === "none") return [];
    const all = await this.studio.history.range(0, this.context.conversationLength);
    const spoken = all.filter((turn) => turn.content);
    return history === "full" ? spoken : spoken.slice(-Number(history.slice("recent:".length)));
  }
}

/** What the sub-agent is asked: its only argument as it is, several by name. */
function question(args) {
  const entries = Object.entries(args);
  if (entries.length === 1) return asText(entries[0][1]);
  return entries.map(([name, value]) => `${name}: ${asText(value)}`).join("\n") || "Go ahead.";
}

function asText(value) {
  return typeof value === "string" ? value : JSON.stringify(value);
}
