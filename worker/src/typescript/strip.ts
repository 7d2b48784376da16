/**
 * TypeScript to JavaScript: types are taken out, not checked, and lines stay where they are, so
 * that errors name the author's own lines.
 */
import { transform } from "sucrase";

/** Throws an Error whose message has line and column in brackets. */
export function strip(source: string): string {
  return transform(source, { transforms: ["typescript"], disableESTransforms: true }).code;
}
