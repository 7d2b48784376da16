/**
 * The messages between page and frame, and those of the frame and a worker's script before an agent
 * comes: types alone, made from the declaration that the page's Python reads too.
 */
import type { frame, worker } from "../../web/personae/protocol.json";
import type { Snapshot } from "./python/snapshot";
import type { ExtraFiles, RuntimeFiles } from "./session";

/** What a field holds, by its name; which message has which is declared. */
interface FrameFields {
  language: string;
  files: Record<string, ArrayBuffer>;
  worker: number;
  extra: string;
  /** Names of what the page has handed over as extras. */
  extras: string[];
  message: string;
}

interface WorkerFields {
  files: RuntimeFiles;
  extras: ExtraFiles;
  /** Of the first worker of its language, before any agent came; null where there is none. */
  snapshot: Snapshot | null;
}

type Declared = Record<string, { fields: object }>;

/** Type -> the message as both ends see it. */
type Messages<Section extends Declared, Fields> = {
  [Type in keyof Section]: { type: Type } & Pick<
    Fields,
    keyof Section[Type]["fields"] & keyof Fields
  >;
};

export type FrameMessages = Messages<typeof frame, FrameFields>;
export type WorkerMessages = Messages<typeof worker, WorkerFields>;

export type FromPage = FrameMessages["open" | "runtime" | "extra" | "start" | "terminate"];
export type ToPage = FrameMessages["opened" | "prepared" | "broken"];
