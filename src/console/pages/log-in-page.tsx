// The log-in: with an API key, such as the one that the gateway prints at its first start, or with a password.

import { type FormEvent, useState } from 'react';
import { textOf } from '../api/errors.ts';
import { type Credentials, logIn } from '../api/session.ts';
import { TextField } from '../parts/field.tsx';
import { Notice } from '../parts/notice.tsx';

type Way = 'key' | 'password';

export function LogInPage() {
  const [way, setWay] = useState<Way>('key');
  const [fault, setFault] = useState<string>();
  const [isBusy, setBusy] = useState(false);

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setBusy(true);
    setFault(undefined);
    try {
      await logIn(credentialsIn(new FormData(event.currentTarget), way));
    } catch (error) {
      setFault(textOf(error));
      setBusy(false);
    }
  };
  return (
    <main className="log-in">
      <form onSubmit={submit}>
        <h1>Patchbay</h1>
        {way === 'key' ? (
          <TextField
            name="api_key"
            label="API key"
            type="password"
            autoComplete="current-password"
            hint="The gateway printed the first one when it was started for the first time."
            required
            autoFocus
          />
        ) : (
          <>
            <TextField
              name="email"
              label="Email"
              type="email"
              autoComplete="username"
              required
              autoFocus
            />
            <TextField
              name="password"
              label="Password"
              type="password"
              autoComplete="current-password"
              required
            />
          </>
        )}
        {fault !== undefined && <Notice tone="bad">{fault}</Notice>}
        <button type="submit" className="primary" disabled={isBusy}>
          Log in
        </button>
        <button
          type="button"
          className="link"
          onClick={() => {
            setFault(undefined);
            setWay(way === 'key' ? 'password' : 'key');
          }}
        >
          {way === 'key' ? 'With email and password' : 'With an API key'}
        </button>
      </form>
    </main>
  );
}

function credentialsIn(form: FormData, way: Way): Credentials {
  const text = (name: string) => String(form.get(name) ?? '');
  if (way === 'key') return { api_key: text('api_key').trim() };
  return { email: text('email').trim(), password: text('password') };
}
