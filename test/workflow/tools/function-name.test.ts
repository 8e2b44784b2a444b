// Names of tools as functions. Source: contract §5.4.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { functionNameOf } from '../../../src/workflow/tools/function-name.ts';
import { openTool } from '../../../src/workflow/tools/registry.ts';
import { storedTool } from './stored-tool.ts';

const uuid = '0f8fad5b-d9cb-469f-a165-70867728950e';
const named = (name: string) => functionNameOf({ uuid, name });

describe('the function of a tool', () => {
  it('is its name in lower case, other characters one underscore, none at the ends', () => {
    expect(named('Look up Customer!')).toBe('look_up_customer');
    expect(named('  a -- b__c ')).toBe('a_b_c');
    expect(named('_x_')).toBe('x');
  });

  it('of a name without a Latin letter is made of the uuid', () => {
    expect(named('حجز موعد')).toBe('tool_0f8fad5b');
  });

  it('of a calculator is always the same, and an MCP server is none', () => {
    const calculator = openTool(storedTool(uuid, 'Sums', { type: 'calculator' }));
    expect(calculator).toMatchObject({ functions: [{ name: 'safe_calculator' }] });
    const config = { url: 'https://mcp.example/' };
    expect(openTool(storedTool(uuid, 'Server', { type: 'mcp', config }))).toBe(
      'not run by this version',
    );
  });

  it('is one that model services take, whatever the name is', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 255, unit: 'binary' }), (name) => {
        expect(named(name)).toMatch(/^[a-z0-9_]{1,64}$/);
      }),
    );
  });
});
