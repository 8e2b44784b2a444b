// The route of the tone that hosted providers play to callers who wait for a place.

import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { waitingSound } from '../../call/start/waiting/waiting-sound.ts';
import type { Api } from '../http/api-deps.ts';

/** Providers keep the file for a day. */
const CACHE = 'public, max-age=86400';

export function waitingSoundRoutes(api: Api): void {
  let file: Buffer | undefined;
  api.get(
    '/telephony/waiting-sound.wav',
    {
      schema: {
        tags: ['webhooks'],
        operationId: 'getWaitingSound',
        summary: 'Get the waiting sound',
        description: 'What a provider plays to callers who wait for a place. Needs no key.',
        response: {
          200: {
            description: 'The sound.',
            content: { 'audio/wav': { schema: z.string().meta({ format: 'binary' }) } },
          },
        },
      },
    },
    async (_request, reply) => {
      file ??= waitingSound();
      return sendSound(reply, file);
    },
  );
}

function sendSound(reply: FastifyReply, file: Buffer): FastifyReply {
  return reply.type('audio/wav').header('Cache-Control', CACHE).send(file);
}
