// What one event of a call says, as evidence: facts, and never what the parties said.

import type { CallEventBody } from '../../model/call-event.ts';

const TEXT_CHARACTERS_MAX = 300;

/** One sentence without the words of the conversation. */
export function eventText(body: CallEventBody): string {
  return textOf(body)
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, TEXT_CHARACTERS_MAX);
}

function textOf(body: CallEventBody): string {
  switch (body.type) {
    case 'fault':
      return `${body.code}: ${body.message}`;
    case 'call.status':
      return `The provider reported ${body.status} (${body.providerStatus}).`;
    case 'call.ended':
      return `The call was ended by the ${body.by} after ${body.durationS.toFixed(1)} s: ${body.reason}.`;
    case 'wait.began':
      return 'All places were taken: the caller waited for one.';
    case 'wait.ended':
      return `The wait for a place ended after ${Math.round(body.waitedMs / 1_000)} s: ${body.outcome}.`;
    case 'call.answered-by':
      return `Answered by ${body.answeredBy}.`;
    case 'node.entered':
      return `The agent entered "${body.nodeName}".`;
    case 'agent.entered':
      return `The agent "${body.agentName}" took the call over from "${body.previousAgentName}".`;
    case 'language.switched':
      return `The agent switched to the language ${body.language}.`;
    case 'user.turn':
      return `The caller spoke, or pressed keys (${body.source}).`;
    case 'digits.sent':
      return `A client sent ${body.digits.length} keys to the far end.`;
    case 'agent.said':
      return `The agent spoke for ${Math.round(body.endMs - body.startMs)} ms (${body.kind}${body.interrupted ? ', cut off' : ''}).`;
    case 'function.called':
      return `The model called ${body.name}.`;
    case 'function.returned':
      return `${body.name} returned ${body.result}`;
    case 'turn.latency':
      return `The answer came after ${Math.round(body.parts.totalMs)} ms: model ${Math.round(body.parts.modelMs)}, voice ${Math.round(body.parts.speechMs)}, recogniser ${Math.round(body.parts.recognitionMs)}, gateway ${Math.round(body.parts.gatewayMs)} ms.`;
    case 'model.usage':
      return `The model ${body.service} ${body.model} was asked for ${Math.round(body.totalMs)} ms${body.isEstimated === true ? ', without an end' : ''}.`;
    case 'call.resumed':
      return `Another process went on with the call after ${Math.round(body.gapMs)} ms.`;
    case 'call.created':
      return `The ${body.direction} call over ${body.provider} was created.`;
    default:
      return body.type;
  }
}
