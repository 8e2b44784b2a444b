import { describe, expect, it } from 'vitest';
import { postDialMs, splitDestination, withDigits } from '../../src/model/post-dial-digits.ts';

describe('a destination with keys', () => {
  it.each([
    ['+4930123456', '+4930123456', ''],
    ['+4930123456,,204#', '+4930123456', 'wwwwwwww204#'],
    ['+49 30 123456, 204', '+49 30 123456', 'wwww204'],
    ['200,w1,a', '200', 'wwwww1wwwwA'],
    ['sip:desk@pbx.example.com,1', 'sip:desk@pbx.example.com', 'wwww1'],
    ['sip:a,1@pbx.example.com', 'sip:a,1@pbx.example.com', ''],
    ['+4930123456,,', '+4930123456', ''],
    ['Berlin, Germany', 'Berlin, Germany', ''],
  ])('%s', (written, address, digits) => {
    expect(splitDestination(written)).toEqual({ address, digits });
  });

  it('gets the keys of a field of their own, after two seconds', () => {
    expect(splitDestination(withDigits('+4930123456', '204#'))).toEqual({
      address: '+4930123456',
      digits: 'wwww204#',
    });
    expect(withDigits('', '204')).toBe('');
  });

  it('takes as long as its keys and pauses', () => {
    expect(postDialMs('wwww204#')).toBe(2_800);
  });
});
