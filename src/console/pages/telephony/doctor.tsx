// The doctor of a configuration: examines what its calls depend on, and says what is wrong and what to do.

import { useEffect, useRef, useState } from 'react';
import { patientClient, type Schema } from '../../api/client.ts';
import { counted } from '../../format.ts';
import { useAction } from '../../parts/action.tsx';
import { CheckField, TextField } from '../../parts/field.tsx';
import { Badge, Notice, type Tone } from '../../parts/notice.tsx';
import { Section } from '../../parts/page.tsx';

type Finding = Schema<'TelephonyFinding'>;
type Examination = Schema<'TelephonyExamination'>;

const TONES: Readonly<Record<Finding['verdict'], Tone>> = {
  pass: 'good',
  warn: 'warn',
  fail: 'bad',
  skip: 'plain',
};
const VERDICTS: Readonly<Record<Finding['verdict'], string>> = {
  pass: 'good',
  warn: 'warning',
  fail: 'fault',
  skip: 'not examined',
};
/** The worst first. */
const ORDER: readonly Finding['verdict'][] = ['fail', 'warn', 'pass', 'skip'];
const SECOND_MS = 1_000;
/** The gateway's own limit of an examination. */
const EXAMINATION_S_MAX = 55;

export function Doctor({ id, isPbx }: { id: string; isPbx: boolean }) {
  const { run, isBusy, notice } = useAction();
  const [found, setFound] = useState<Examination>();
  const [isCalling, setCalling] = useState(false);
  const [context, setContext] = useState('');
  const leaving = useRef<AbortController>(undefined);
  useEffect(() => () => leaving.current?.abort(), []);
  const examine = () =>
    run(async () => {
      leaving.current = new AbortController();
      setFound(undefined);
      const { data } = await patientClient.POST(
        '/api/v1/organizations/telephony-configs/{config_id}/examine',
        {
          params: { path: { config_id: id } },
          body: { call_numbers: isPbx && isCalling, context: context === '' ? null : context },
          signal: leaving.current.signal,
        },
      );
      setFound(data);
    });
  return (
    <Section
      title="Doctor"
      actions={
        <button type="button" className="primary" disabled={isBusy} onClick={() => void examine()}>
          Examine
        </button>
      }
    >
      <p className="hint">
        {isPbx
          ? 'Examines the address, the user, the modules of Asterisk, the dialplan to the numbers, and the way of the audio by a test tone.'
          : 'Examines the credentials, the account, the application, the numbers, and whether the provider reaches this gateway.'}
      </p>
      {isPbx && (
        <>
          <CheckField
            label="Call every active number through the PBX's dialplan"
            checked={isCalling}
            hint="It may ring people where a number does not lead here; no agent starts."
            onChange={({ target }) => setCalling(target.checked)}
          />
          {isCalling && (
            <TextField
              label="Context in which calls from outside begin (optional)"
              value={context}
              placeholder="from-trunk"
              maxLength={80}
              hint="Empty: the contexts of the PJSIP endpoints."
              onChange={({ target }) => setContext(target.value)}
            />
          )}
        </>
      )}
      {isBusy && <Progress />}
      {notice}
      {found !== undefined && <Findings examination={found} />}
    </Section>
  );
}

function Progress() {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds((past) => past + 1), SECOND_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <div className="doctor-progress">
      <progress max={EXAMINATION_S_MAX} value={seconds} aria-label="Examination" />
      <span>
        Examining for {seconds} s, at most {EXAMINATION_S_MAX} s …
      </span>
    </div>
  );
}

function Findings({ examination: { ok, findings } }: { examination: Examination }) {
  const faults = findings.filter(({ verdict }) => verdict === 'fail').length;
  const warnings = findings.filter(({ verdict }) => verdict === 'warn').length;
  const sorted = findings.toSorted(
    (one, other) => ORDER.indexOf(one.verdict) - ORDER.indexOf(other.verdict),
  );
  return (
    <>
      <Notice tone={ok ? (warnings === 0 ? 'good' : 'warn') : 'bad'}>
        {ok
          ? `Nothing keeps calls from working: ${counted(warnings, 'warning')}.`
          : `${counted(faults, 'fault')}, ${counted(warnings, 'warning')}: the first lines below say what to do.`}
      </Notice>
      <ul className="findings" aria-label="Findings">
        {sorted.map(({ key, title, verdict, message, advice }) => (
          <li key={`${key} ${title}`}>
            <Badge tone={TONES[verdict]}>{VERDICTS[verdict]}</Badge>
            <div>
              <h3>{title}</h3>
              <p>{message}</p>
              {advice !== null && <p className="advice">{advice}</p>}
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}
