// A chat in writing with an agent. Every change names the revision that the page has seen, so that two pages with one
// chat do not mix; the chat can go back to any of its messages.

import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import { patientClient, queries, type Schema } from '../../api/client.ts';
import { ApiError } from '../../api/errors.ts';
import { formatValue } from '../../format.ts';
import { nodeName, pathOf } from '../../graph/types.ts';
import { callHref } from '../../links.ts';
import { useAction } from '../../parts/action.tsx';
import { TextArea } from '../../parts/field.tsx';
import { Badge, Notice } from '../../parts/notice.tsx';
import { Facts } from '../../parts/page.tsx';
import { definitionOf } from './content.ts';

type Chat = Schema<'WorkflowRunTextSessionResponse'>;
type Turn = Chat['session_data']['turns'][number];

const TEXT_MAX = 4_000;
const SESSIONS = '/api/v1/workflow/{workflow_id}/text-chat/sessions';
const SESSION = `${SESSIONS}/{run_id}` as const;

/** The id of the chat's run. */
export async function startChat(
  agentId: string,
  context: Record<string, unknown>,
): Promise<string> {
  const { data } = await patientClient.POST(SESSIONS, {
    params: { path: { workflow_id: agentId } },
    body: { initial_context: context },
  });
  if (data === undefined) throw new Error('The gateway sent no chat.');
  keep(data);
  return data.workflow_run_id;
}

/** The chat as the query of its address would give it. */
function keep(chat: Chat): void {
  const path = { workflow_id: chat.workflow_id, run_id: chat.workflow_run_id };
  queries.setQueryData(['get', SESSION, { params: { path } }], chat);
}

export function TextChat({
  agent,
  chat,
  onChanged,
}: {
  agent: Schema<'WorkflowResponse'>;
  chat: Chat;
  /** Reads the chat anew. */
  onChanged: () => Promise<unknown>;
}) {
  const { run, isBusy, notice } = useAction();
  const [text, setText] = useState('');
  const [pending, setPending] = useState<string>();
  const { revision: expectedRevision, session_data: session } = chat;
  const params = { path: { workflow_id: chat.workflow_id, run_id: chat.workflow_run_id } };
  const change = (action: () => Promise<{ data?: Chat | undefined }>) =>
    run(async () => {
      try {
        const { data } = await action();
        if (data !== undefined) keep(data);
      } catch (error) {
        if (error instanceof ApiError && error.status === 409) await onChanged();
        throw error;
      }
    });
  const rewind = (turnId: string) =>
    change(() =>
      patientClient.POST(`${SESSION}/rewind`, {
        params,
        body: { cursor_turn_id: turnId, expected_revision: expectedRevision },
      }),
    );
  const send = async (said: string) => {
    setPending(said);
    setText('');
    const isSaid = await change(() =>
      patientClient.POST(`${SESSION}/messages`, {
        params,
        body: { text: said, expected_revision: expectedRevision },
      }),
    );
    setPending(undefined);
    if (!isSaid) setText(said);
  };
  const end = () =>
    change(() =>
      patientClient.POST(`${SESSION}/end`, {
        params,
        body: { expected_revision: expectedRevision },
      }),
    );
  return (
    <div className="chat">
      <Turns
        turns={session.turns}
        pending={pending}
        canRewind={!isBusy && !chat.is_completed}
        onRewind={(id) => void rewind(id)}
        onSayAgain={(id, said) => {
          setText(said);
          void rewind(id);
        }}
      />
      {notice}
      {chat.is_completed ? (
        <Notice tone="info">
          The chat has ended. <RunLink chat={chat} />
        </Notice>
      ) : (
        <Composer text={text} onText={setText} onSend={send} onEnd={end} isBusy={isBusy} />
      )}
      <ChatState agent={agent} chat={chat} />
    </div>
  );
}

function RunLink({ chat }: { chat: Chat }) {
  return <Link href={callHref(chat.workflow_id, chat.workflow_run_id)}>Open the run</Link>;
}

function Turns({
  turns,
  pending,
  canRewind,
  onRewind,
  onSayAgain,
}: {
  turns: readonly Turn[];
  /** What was sent and is not answered. */
  pending: string | undefined;
  canRewind: boolean;
  onRewind: (turnId: string) => void;
  /** Goes back to the turn, to say something else than that text. */
  onSayAgain: (turnId: string, text: string) => void;
}) {
  const end = useRef<HTMLLIElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list is scrolled when it grows
  useEffect(() => {
    void end.current?.scrollIntoView({ block: 'nearest' });
  }, [turns.length, pending]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reached by the keyboard
    <section className="chat-turns" aria-label="Messages" role="log" tabIndex={0}>
      <ol>
        {turns.map((turn, index) => {
          const before = turns[index - 1]?.id;
          const said = turn.user_message?.text;
          return (
            <li key={turn.id}>
              {said !== undefined && (
                <Message who="caller" text={said}>
                  {canRewind && before !== undefined && (
                    <button type="button" className="link" onClick={() => onSayAgain(before, said)}>
                      Say something else
                    </button>
                  )}
                </Message>
              )}
              {turn.assistant_message !== null && (
                <Message who="agent" text={turn.assistant_message.text}>
                  {canRewind && index < turns.length - 1 && (
                    <button type="button" className="link" onClick={() => onRewind(turn.id)}>
                      Rewind to here
                    </button>
                  )}
                </Message>
              )}
              {turn.status === 'failed' && (
                <Notice tone="bad">The agent could not answer. Say it again.</Notice>
              )}
            </li>
          );
        })}
        {pending !== undefined && (
          <li>
            <Message who="caller" text={pending} />
            <p className="busy">The agent answers …</p>
          </li>
        )}
        <li ref={end} aria-hidden="true" />
      </ol>
    </section>
  );
}

function Message({
  who,
  text,
  children,
}: {
  who: 'caller' | 'agent';
  text: string;
  children?: ReactNode;
}) {
  return (
    <div className="chat-message" data-who={who}>
      <strong>{who === 'caller' ? 'You' : 'Agent'}</strong>
      <p>{text}</p>
      {children}
    </div>
  );
}

function Composer({
  text,
  onText,
  onSend,
  onEnd,
  isBusy,
}: {
  text: string;
  onText: (text: string) => void;
  onSend: (text: string) => Promise<unknown>;
  onEnd: () => Promise<unknown>;
  isBusy: boolean;
}) {
  const said = text.trim();
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (said !== '' && !isBusy) void onSend(said);
  };
  return (
    <form onSubmit={submit}>
      <TextArea
        label="What you say"
        rows={2}
        value={text}
        maxLength={TEXT_MAX}
        hint="Enter sends, Shift+Enter begins a line."
        onChange={({ target }) => onText(target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          submit();
        }}
      />
      <div className="buttons">
        <button type="button" disabled={isBusy} onClick={() => void onEnd()}>
          End the chat
        </button>
        <button type="submit" className="primary" disabled={isBusy || said === ''}>
          Send
        </button>
      </div>
    </form>
  );
}

/** Where the chat stands in the graph, and the values so far. */
function ChatState({ agent, chat }: { agent: Schema<'WorkflowResponse'>; chat: Chat }) {
  const { current_node_id: nodeId } = chat.checkpoint;
  const { nodes_visited: visited, extracted_variables: extracted } = chat.gathered_context;
  const { nodes } = definitionOf(agent.workflow_definition);
  const nameOf = (id: string) => nodeName(nodes, id);
  const values = Object.entries((extracted ?? {}) as Record<string, unknown>);
  const path = pathOf(Array.isArray(visited) ? visited.map(String) : []);
  return (
    <Facts
      facts={[
        [
          'Node',
          nodeId === null ? (
            ''
          ) : (
            <Badge key="node" tone="info">
              {nameOf(nodeId)}
            </Badge>
          ),
        ],
        ['Path', [...path.visits.keys()].map(nameOf).join(' → ')],
        ['Run', <RunLink key="run" chat={chat} />],
        ...values.map(([name, value]) => [name, formatValue(value)] as const),
      ]}
    />
  );
}
