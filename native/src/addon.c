// The kernels as a Node-API addon, in the shape of a WebAssembly instance: one buffer of memory, and functions
// that take and give numbers, addresses being offsets in the buffer. No kernel knows of it.

#include <node_api.h>

#include "g722.h"
#include "resample.h"
#include "sockets.h"
#include "vad.h"

enum { ARGUMENTS_MAX = 8 };

// The bounds of the section that kernel.h puts shared memory in; the linker defines them.
extern char __start_kernels[], __stop_kernels[];

struct function {
  const char *name;
  size_t arguments;
  double (*call)(const int32_t *values);
};

#define VALUES_0
#define VALUES_1 values[0]
#define VALUES_2 VALUES_1, values[1]
#define VALUES_3 VALUES_2, values[2]
#define VALUES_4 VALUES_3, values[3]
#define VALUES_5 VALUES_4, values[4]
#define VALUES_6 VALUES_5, values[5]
#define VALUES_7 VALUES_6, values[6]
#define VALUES_8 VALUES_7, values[7]

#define WRAP(c, result)                                \
  static double call_##c(const int32_t *values) {      \
    (void)values;                                      \
    result;                                            \
  }
#define ADDRESS(js, c, count) WRAP(c, return (double)((char *)c(VALUES_##count) - __start_kernels))
#define NUMBER(js, c, count) WRAP(c, return (double)c(VALUES_##count))
#define NOTHING(js, c, count) WRAP(c, c(VALUES_##count); return 0)
#include "addon-exports.h"
#include "exports.h"
#undef ADDRESS
#undef NUMBER
#undef NOTHING

#define ADDRESS(js, c, count) {#js, count, call_##c},
#define NUMBER(js, c, count) {#js, count, call_##c},
#define NOTHING(js, c, count) {#js, count, call_##c},
static const struct function functions[] = {
#include "addon-exports.h"
#include "exports.h"
};

// Arguments that are missing or no numbers are 0.
static napi_value call(napi_env env, napi_callback_info info) {
  napi_value given[ARGUMENTS_MAX], result;
  size_t count = ARGUMENTS_MAX;
  void *data;
  if (napi_get_cb_info(env, info, &count, given, 0, &data) != napi_ok) return 0;
  const struct function *function = data;
  int32_t values[ARGUMENTS_MAX] = {0};
  for (size_t i = 0; i < function->arguments && i < count; i++) {
    if (napi_get_value_int32(env, given[i], &values[i]) != napi_ok) values[i] = 0;
  }
  return napi_create_double(env, function->call(values), &result) == napi_ok ? result : 0;
}

// The memory exists once, and nothing guards it against a second thread.
static napi_env owner;

static void leave(void *unused) {
  (void)unused;
  owner = 0;
}

static napi_value fail(napi_env env, const char *reason) {
  napi_throw_error(env, 0, reason);
  return 0;
}

NAPI_MODULE_INIT() {
  if (owner && owner != env) return fail(env, "the kernels are in use by another thread");
  napi_value memory, sources, function;
  size_t bytes = (size_t)(__stop_kernels - __start_kernels);
  if (napi_create_external_arraybuffer(env, __start_kernels, bytes, 0, 0, &memory) != napi_ok ||
      napi_set_named_property(env, exports, "memory", memory) != napi_ok ||
      napi_create_string_utf8(env, SOURCES, NAPI_AUTO_LENGTH, &sources) != napi_ok ||
      napi_set_named_property(env, exports, "sources", sources) != napi_ok) {
    return fail(env, "the kernels' memory could not be handed over");
  }
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    const struct function *each = &functions[i];
    if (napi_create_function(env, each->name, NAPI_AUTO_LENGTH, call, (void *)each, &function) != napi_ok ||
        napi_set_named_property(env, exports, each->name, function) != napi_ok) {
      return fail(env, "a kernel could not be handed over");
    }
  }
  if (!owner && napi_add_env_cleanup_hook(env, leave, 0) != napi_ok) return fail(env, "no clean-up");
  owner = env;
  return exports;
}
