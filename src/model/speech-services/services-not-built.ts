// Services whose names clients know, from the reference's configuration API or other platforms, and that this version does
// not have: what stands against each, in words that end a sentence. The tables of docs/services.md say the same.

const NOT_BUILT: Readonly<Record<string, string>> = {
  google_vertex: 'it wants tokens of a service account; google takes a key of the Gemini API',
  aws_bedrock: 'it wants signed requests; anthropic and openrouter take a key',
  aws_transcribe: 'it wants signed addresses and event streams',
  aws_polly: 'it wants signed requests',
  // As a recogniser: it is a language model and a voice.
  google: 'its recogniser takes gRPC alone',
  riva: 'it takes gRPC alone',
  kyutai: 'its messages are MessagePack',
  sherpa_onnx: 'it takes audio of 32-bit floats',
  hume: 'its speech service ended on 13 November 2026',
  dograh: 'it is the hosted service of another platform',
};

/** Undefined for a name that nobody knows. Of services that this version has for another job, only those whose own
 *  service for this one is not built. */
export function whyNotBuilt(provider: string): string | undefined {
  return Object.hasOwn(NOT_BUILT, provider) ? NOT_BUILT[provider] : undefined;
}

/** Their names. */
export const servicesNotBuilt: readonly string[] = Object.keys(NOT_BUILT);
