// A text chat in an organization, and a request for every operation on it.

import type { Example } from './example.ts';
import type { Served } from './served.ts';
import { talking } from './talking-workflow.ts';

export async function makeTextChats(
  served: Served,
  mark: string,
): Promise<Record<string, Example>> {
  const { id } = await served.ok('POST', '/workflow/create/definition', {
    name: `${mark} writer`,
    workflow_definition: talking,
  });
  const sessions = `/workflow/${id}/text-chat/sessions`;
  const { workflow_run_id } = await served.ok('POST', sessions, { name: `${mark} chat` });
  const other = await served.ok('POST', sessions, {});
  const path = { workflow_id: id, run_id: workflow_run_id };
  return {
    createTextChat: { path: { workflow_id: id }, body: {} },
    getTextChat: { path },
    sendTextChatMessage: { path, body: { text: 'hello' } },
    rewindTextChat: { path, body: {} },
    endTextChat: { path: { ...path, run_id: other.workflow_run_id }, body: {} },
  };
}
