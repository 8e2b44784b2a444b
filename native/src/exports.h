// What the addon tells JavaScript of: KIND(name in JavaScript, C function, how many numbers it takes).
// WebAssembly has the same by the EXPORT beside each function; a test compares the two.

ADDRESS(resampleLine, resample_line, 0)
ADDRESS(resampleInput, resample_input, 0)
ADDRESS(resampleOutput, resample_output, 0)
ADDRESS(resampleCursor, resample_cursor, 0)
ADDRESS(resampleWeights, resample_weights, 1)
NUMBER(resampleBlock, resample_block, 5)

ADDRESS(vadWeights, vad_weights, 0)
NUMBER(vadWeightsBytes, vad_weights_bytes, 0)
NUMBER(vadStreamsMax, vad_streams_max, 0)
NUMBER(vadBatchMax, vad_batch_max, 0)
NUMBER(vadHeardSamples, vad_heard_samples, 0)
ADDRESS(vadWindows, vad_windows, 0)
ADDRESS(vadSlots, vad_slots, 0)
ADDRESS(vadProbabilities, vad_probabilities, 0)
NUMBER(vadInstructions, vad_instructions, 0)
NUMBER(vadPrepare, vad_prepare, 1)
NOTHING(vadClear, vad_clear, 1)
NOTHING(vadHear, vad_hear, 1)
