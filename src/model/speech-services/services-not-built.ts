// Services that clients know from the reference's configuration API or other platforms and that this version does not
// have, with the reason as the end of a sentence. The tables of docs/services.md list the same.

const NOT_BUILT: Readonly<Record<string, string>> = {
  google_vertex: 'it requires tokens of a service account; google accepts a key of the Gemini API',
  aws_bedrock: 'it requires signed requests; anthropic and openrouter accept a key',
  aws_transcribe: 'it requires signed URLs and event streams',
  aws_polly: 'it requires signed requests',
  // Reason for the recogniser: Google's language model and voice are built.
  google: 'its recogniser accepts gRPC only',
  riva: 'it accepts gRPC only',
  kyutai: 'its messages are MessagePack',
  sherpa_onnx: 'it accepts audio of 32-bit floats only',
  hume: 'its speech service ended on 13 November 2026',
  dograh: 'it is the hosted service of another platform',
};

/** Why a service is not built; undefined for an unknown name. A service that this version has for another job is
 *  included only if its own service for this one is not built. */
export function whyNotBuilt(provider: string): string | undefined {
  return Object.hasOwn(NOT_BUILT, provider) ? NOT_BUILT[provider] : undefined;
}

/** Names of the services that are not built. */
export const servicesNotBuilt: readonly string[] = Object.keys(NOT_BUILT);
