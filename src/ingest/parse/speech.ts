/** The sound of a file as models of speech want it, where that is wanted. Used by audio.ts and video.ts. */
import { DbError } from "../../protocol/errors.js";
import type { ParsedContent, ParserInput } from "./parsed-content.js";

const NOT_WANTED = "transcription: not made: nobody asked for it; the file is found by its name and tags";

/** Throws the errors of `speechSoundOf`, except that a missing ffmpeg becomes a note. */
export async function readSpeech({ job, bytes }: ParserInput, content: ParsedContent): Promise<void> {
  const { speech = NOT_WANTED } = job;
  if (typeof speech === "string") {
    content.notes.push(speech);
    return;
  }
  const { speechSoundOf } = await import("../media/speech-sound-of.js");
  try {
    content.sound = await speechSoundOf({ bytes, ...speech, checkTime: () => content.checkTime() });
  } catch (error) {
    if (!(error instanceof DbError) || error.code !== "program_not_installed") throw error;
    content.notes.push(`transcription: not made: ${error.message} Then process the file again.`);
    return;
  }
  if (content.sound.isCut) content.notes.push(`transcription: of the first ${speech.secondsMax} s only`);
}
