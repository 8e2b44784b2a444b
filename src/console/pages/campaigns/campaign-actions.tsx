// What can be done with a campaign in its state, each after a question.

import { useState } from 'react';
import { useLocation } from 'wouter';
import { client, queries } from '../../api/client.ts';
import { Confirm, FormDialog } from '../../parts/dialog.tsx';
import { CheckField, TextField } from '../../parts/field.tsx';
import { ACTIONS, type Action, type Campaign } from './campaign-words.ts';

export function CampaignActions({ campaign }: { campaign: Campaign }) {
  const [asked, setAsked] = useState<Action | 'redial'>();
  const [, navigate] = useLocation();
  const close = () => setAsked(undefined);
  const { id, state, redialed_campaign_id: child } = campaign;
  const act = async ({ name }: Action) => {
    const params = { path: { campaign_id: id } };
    if (name === 'delete') {
      await client.DELETE('/api/v1/campaign/{campaign_id}', { params });
      navigate('/campaigns');
    } else {
      await client.POST(`/api/v1/campaign/{campaign_id}/${name}`, { params });
    }
    await queries.invalidateQueries();
  };
  return (
    <>
      {ACTIONS[state].map((action, at) => (
        <button
          key={action.name}
          type="button"
          className={at === 0 && action.name !== 'delete' ? 'primary' : ''}
          onClick={() => setAsked(action)}
        >
          {action.label}
        </button>
      ))}
      {state === 'completed' && child === null && (
        <button type="button" className="primary" onClick={() => setAsked('redial')}>
          Redial
        </button>
      )}
      {asked === 'redial' && <Redial campaign={campaign} onClose={close} />}
      {asked !== undefined && asked !== 'redial' && (
        <Confirm
          title={`${asked.label}?`}
          action={asked.label}
          onConfirm={() => act(asked)}
          onClose={close}
        >
          <p>{asked.effect}</p>
        </Confirm>
      )}
    </>
  );
}

const OUTCOMES = [
  ['retry_on_no_answer', 'Those who did not answer'],
  ['retry_on_busy', 'Those who were busy'],
  ['retry_on_voicemail', 'Those whose answering machine answered'],
] as const;

function Redial({ campaign, onClose }: { campaign: Campaign; onClose: () => void }) {
  const [, navigate] = useLocation();
  const submit = async (form: FormData) => {
    const chosen = (name: string) => form.get(name) !== null;
    const { data } = await client.POST('/api/v1/campaign/{campaign_id}/redial', {
      params: { path: { campaign_id: campaign.id } },
      body: {
        name: String(form.get('name')),
        retry_on_no_answer: chosen('retry_on_no_answer'),
        retry_on_busy: chosen('retry_on_busy'),
        retry_on_voicemail: chosen('retry_on_voicemail'),
      },
    });
    await queries.invalidateQueries();
    if (data !== undefined) navigate(`/campaigns/${data.id}`);
  };
  return (
    <FormDialog title="Redial" action="Create the campaign" onSubmit={submit} onClose={onClose}>
      <p>A new campaign for contacts that this one did not reach. It is not started yet.</p>
      <TextField
        label="Name"
        name="name"
        defaultValue={`${campaign.name} (Redial)`}
        maxLength={255}
        required
      />
      {OUTCOMES.map(([name, label]) => (
        <CheckField key={name} label={label} name={name} defaultChecked />
      ))}
    </FormDialog>
  );
}
