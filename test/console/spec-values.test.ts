// The values of a form that the gateway describes: what it begins with, what it sends, and whose errors are whose.

import { describe, expect, it } from 'vitest';
import {
  errorsBelow,
  formValues,
  isVisible,
  type SpecField,
  sentValues,
  storedSecrets,
} from '../../src/console/parts/spec-values.ts';

function field(name: string, more: Partial<SpecField> = {}): SpecField {
  return {
    name,
    label: name,
    type: 'text',
    required: true,
    sensitive: false,
    description: null,
    placeholder: null,
    options: null,
    visible_when: null,
    ...more,
  };
}

const fields = [
  field('address'),
  field('password', { type: 'password', sensitive: true }),
  field('early', { type: 'boolean' }),
  field('media', {
    type: 'select',
    options: [
      { value: 'auto', label: 'Automatic' },
      { value: 'client', label: 'Client' },
    ],
  }),
  field('client', { required: false, visible_when: { media: ['client'] } }),
];
const stored = { address: 'http://pbx', password: '****word', early: true, media: 'client' };

describe('the values of a form', () => {
  it('begin with what is stored, but for secrets', () => {
    expect(formValues(fields, stored)).toEqual({
      address: 'http://pbx',
      password: '',
      early: true,
      media: 'client',
      client: '',
    });
    expect(formValues(fields)).toMatchObject({ address: '', early: false, media: 'auto' });
    expect([...storedSecrets(fields, stored)]).toEqual(['password']);
  });

  it('are sent without secrets that were left empty', () => {
    const values = formValues(fields, stored);
    expect(sentValues(fields, values, stored)).toEqual({
      address: 'http://pbx',
      early: true,
      media: 'client',
    });
    expect(sentValues(fields, { ...values, password: 'new' }, stored)).toMatchObject({
      password: 'new',
    });
  });

  it('are sent empty to clear what is stored', () => {
    const before = { ...stored, client: 'pbx' };
    expect(sentValues(fields, { ...formValues(fields, before), client: '' }, before)).toMatchObject(
      {
        client: '',
      },
    );
  });

  it('are neither shown nor sent where a condition does not hold', () => {
    const values = { ...formValues(fields, stored), client: 'pbx', media: 'auto' };
    const [last] = fields.slice(-1);
    expect(last && isVisible(last, values)).toBe(false);
    expect(last && isVisible(last, { ...values, media: 'client' })).toBe(true);
    expect(sentValues(fields, values, stored)).not.toHaveProperty('client');
  });

  it('have the errors of their paths', () => {
    const errors = { 'config.ari.address': 'no', 'config.media': 'bad', name: 'taken', 'x.y': 'z' };
    expect(errorsBelow(errors, 'config', 'ari')).toEqual({
      address: 'no',
      media: 'bad',
      name: 'taken',
    });
  });
});
