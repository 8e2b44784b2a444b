// A new campaign in steps: the contacts, who calls them over what, and when and how fast. It is created at the last
// step, when the gateway checks everything; starting it is another act.

import { type FormEvent, type ReactNode, useState } from 'react';
import { useLocation } from 'wouter';
import { api, client, queries } from '../../api/client.ts';
import { useAction } from '../../parts/action.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { Loaded, Notice } from '../../parts/notice.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { bodyOf, type Draft, draftOf } from './campaign-draft.ts';
import { useContactPreview } from './contact-preview.ts';
import { ContactFaults, ContactStep, type Contacts, FirstRows } from './contact-step.tsx';
import { HoursFields } from './hours-fields.tsx';
import { RetryFields } from './retry-fields.tsx';

const STEPS = ['Contacts', 'Agent and telephony', 'Pace, hours and retries'] as const;

export function NewCampaignPage() {
  const defaults = api.useQuery('get', '/api/v1/organizations/campaign-defaults', {});
  return (
    <Page title="New campaign" back={{ href: '/campaigns', name: 'Campaigns' }}>
      <Loaded query={defaults}>
        {(data) => <Steps first={draftOf(data)} callsMax={data.concurrent_call_limit} />}
      </Loaded>
    </Page>
  );
}

function Steps({ first, callsMax }: { first: Draft; callsMax: number }) {
  const [draft, setDraft] = useState(first);
  const [step, setStep] = useState(0);
  const [contacts, setContacts] = useState<Contacts>();
  const preview = useContactPreview(contacts?.sourceId, draft.agentId);
  const [, navigate] = useLocation();
  const { run, isBusy, fault } = useAction();
  /** What the fault is about: it goes when something of it changes. */
  const [tried, setTried] = useState<Draft>();
  const change = (changes: Partial<Draft>) => setDraft((before) => ({ ...before, ...changes }));
  const create = () =>
    run(async () => {
      if (contacts === undefined) return;
      setTried(draft);
      const { data } = await client.POST('/api/v1/campaign/create', {
        body: bodyOf(draft, contacts.sourceId),
      });
      await queries.invalidateQueries();
      if (data !== undefined) navigate(`/campaigns/${data.id}`);
    });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (step === STEPS.length - 1) void create();
    else setStep(step + 1);
  };
  const isReady = preview.data?.fault_count === 0;
  return (
    <form onSubmit={submit}>
      <StepList at={step} />
      <Section title={STEPS[step] ?? ''}>
        {step === 0 && (
          <ContactStep draft={draft} change={change} contacts={contacts} onContacts={setContacts} />
        )}
        {step === 1 && (
          <CallerStep draft={draft} change={change} columns={preview.data?.columns ?? []} />
        )}
        {step < 2 && contacts !== undefined && (
          <Loaded query={preview}>
            {(data) => (
              <>
                <ContactFaults name={contacts.name} preview={data} />
                {step === 0 && <FirstRows preview={data} />}
              </>
            )}
          </Loaded>
        )}
        {step === 2 && <PaceStep draft={draft} change={change} callsMax={callsMax} />}
      </Section>
      {fault !== undefined && tried === draft && (
        <Notice tone="bad">
          {/* The gateway reports all faults of a file in one text. */}
          {fault.replaceAll('; ', '\n')}
        </Notice>
      )}
      <footer className="buttons">
        {step > 0 && (
          <button type="button" disabled={isBusy} onClick={() => setStep(step - 1)}>
            Back
          </button>
        )}
        <button type="submit" className="primary" disabled={isBusy || !isReady}>
          {step < STEPS.length - 1 ? 'Next' : 'Create the campaign'}
        </button>
      </footer>
    </form>
  );
}

function StepList({ at }: { at: number }) {
  return (
    <ol className="steps" aria-label="Steps">
      {STEPS.map((name, index) => (
        <li key={name} aria-current={index === at ? 'step' : undefined}>
          {index + 1}. {name}
        </li>
      ))}
    </ol>
  );
}

interface StepProps {
  draft: Draft;
  change: (changes: Partial<Draft>) => void;
}

function CallerStep({ draft, change, columns }: StepProps & { columns: readonly string[] }) {
  const agents = api.useQuery('get', '/api/v1/workflow/summary', {
    params: { query: { status: 'active' } },
  });
  const telephony = api.useQuery('get', '/api/v1/organizations/telephony-configs', {});
  return (
    <>
      <Loaded query={agents}>
        {(listed) => (
          <SelectField
            label="Agent"
            value={draft.agentId}
            onChange={({ target }) => change({ agentId: target.value })}
            options={[
              { value: '', label: 'Choose an agent' },
              ...listed.map(({ id, name }) => ({ value: id, label: name })),
            ]}
            hint="Its published version calls. Each template variable that it needs must be a column of the file."
            required
          />
        )}
      </Loaded>
      {columns.length > 0 && <p className="soft gap">Columns of the file: {columns.join(', ')}</p>}
      <Loaded query={telephony}>
        {({ configurations }) => (
          <>
            <SelectField
              label="Telephony"
              value={draft.configurationId}
              onChange={({ target }) => change({ configurationId: target.value })}
              options={[
                { value: '', label: 'The default configuration' },
                ...configurations.map(({ id, name, provider, is_ready_for_outbound: isReady }) => ({
                  value: id,
                  label: `${name} (${provider})${isReady ? '' : ', not ready'}`,
                })),
              ]}
            />
            <TelephonyNote configurations={configurations} chosen={draft.configurationId} />
          </>
        )}
      </Loaded>
    </>
  );
}

function TelephonyNote({
  configurations,
  chosen,
}: {
  configurations: readonly {
    id: string;
    outbound_blocked_reason: string | null;
    is_ready_for_outbound: boolean;
  }[];
  chosen: string;
}): ReactNode {
  if (configurations.length === 0)
    return (
      <Notice tone="warn">
        There is no telephony configuration: the campaign can be created, but not started.
      </Notice>
    );
  const found = configurations.find(({ id }) => id === chosen);
  if (found === undefined || found.is_ready_for_outbound) return null;
  return (
    <Notice tone="warn">It cannot place outbound calls: {found.outbound_blocked_reason}</Notice>
  );
}

function PaceStep({ draft, change, callsMax }: StepProps & { callsMax: number }) {
  return (
    <>
      <div className="filters">
        <TextField
          label="Calls per second"
          type="number"
          min={1}
          max={1_000}
          value={draft.rate}
          onChange={({ target }) => change({ rate: target.value })}
          required
        />
        <TextField
          label="Concurrent calls"
          type="number"
          min={1}
          max={Math.min(100, callsMax)}
          value={draft.concurrency}
          onChange={({ target }) => change({ concurrency: target.value })}
          placeholder={`at most ${callsMax}`}
        />
      </div>
      <HoursFields hours={draft.hours} onChange={(hours) => change({ hours })} />
      <RetryFields retry={draft.retry} onChange={(retry) => change({ retry })} />
    </>
  );
}
