// What Python finds as the module `personae_host`: the few things that are better said in
// JavaScript. The interpreter module registers it before any Python runs.
import { assets, root, snapshotLength } from "./assets.js";
import { openStorage } from "./storage.js";
import { tryLock } from "./locks.js";
import { fetchPackage } from "./package.js";
import { hear } from "./ports.js";
import { pieces } from "./pieces.js";

/**
 * Imports a built piece that most sessions do not need at once, e.g. "render".
 * @param {import("../types/python").Piece} piece
 */
function load(piece) {
  return import(assets[piece]);
}

const facts = { assets, root, snapshotLength };
/** @type {import("../types/python").Host} */
export const host = { ...facts, load, openStorage, fetchPackage, tryLock, hear, pieces };

/**
 * The interpreter module looks here: it is loaded by URL and cannot be handed arguments. A string,
 * because a snapshot of Python's memory notes by its path what Python holds of JavaScript.
 */
window["personae.host"] = host;
