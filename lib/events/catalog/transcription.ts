/** Speech to text. */
import { OBSERVES } from "./row.ts";
import type { EventRow } from "./row.ts";

/** In the order of the catalogue, kind by kind. */
export const transcription = (): readonly EventRow[] => [
  {
    ...OBSERVES,
    name: "pre_transcription",
    kind: "transform",
    about:
      "After the speech-to-text provider is settled, before any backend is called. Answers apply in order, field by field, the last wins; an empty prompt clears it.",
    privacy:
      "the final prompt goes to the provider together with the audio: put no secrets into an answer",
    answers: [
      '{"prompt"?:"…","language"?:"…","model"?:"…"}, strings only; `file_path` cannot change',
    ],
    fields: [
      {
        name: "file_path",
        type: "string",
        about: "absolute path of the audio file; read only",
        required: true,
      },
      {
        name: "provider",
        type: "string",
        about: 'the provider, such as "local", "groq" or "openai"',
        required: true,
      },
      {
        name: "model",
        type: "string|null",
        about: "the model settled so far; null leaves it to the backend",
        required: true,
      },
      {
        name: "language",
        type: "string|null",
        about: "the language from the provider's settings",
        required: true,
      },
      { name: "prompt", type: "string|null", about: "the value of `stt.prompt`", required: true },
      {
        name: "source",
        type: "string|null",
        about: 'who asked, such as "gateway" or "voice_mode"; for information',
        required: true,
      },
    ],
    variants: [{
      name: "default",
      about: "an audio file is about to be transcribed",
      sample: {
        file_path: "/home/ada/.hermes/audio_cache/voice_20260726_091512.ogg",
        provider: "groq",
        model: "whisper-large-v3-turbo",
        language: null,
        prompt: "Hermes, kanban",
        source: "gateway",
      },
    }],
  },
];
