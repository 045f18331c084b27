// A CUDA driver for tests: a libcuda.so.1 with the functions that the verifier calls, whose GPUs
// are the host. It runs the kernels' own source, and is stricter than a GPU where that reveals
// mistakes:
//
//   - work in a stream is done when its result is awaited, and a plain copy when everything is
//     awaited, so that memory that is changed or read too early is wrong;
//   - fresh memory is poisoned, and device memory ends at a page that faults on access;
//   - calls need the context that is current on their thread, and asynchronous copies need pinned
//     memory of that context;
//   - a kernel's threads run alternately forwards and backwards, and its PTX must have the same
//     name and parameters.
//
// It reveals neither races between threads of a kernel nor errors in the PTX. cuInit reads its
// settings:
//
//   FAKE_CUDA_DEVICES=n         number of GPUs (1)
//   FAKE_CUDA_MEMORY=bytes      memory of each (1 GiB)
//   FAKE_CUDA_FAIL=name:n:code  the n-th call of a function fails with a result
//   FAKE_CUDA_CALLS=file        gets a line with the calls of each function when a context is
//                               destroyed
#include <sys/mman.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "kernels.h"

enum Result {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_CONTEXT = 201,
    INVALID_PTX = 218,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    NOT_READY = 600,
};

struct Stream;

struct Event {
    Stream *stream = nullptr;
    u64 recorded = 0, reached = 0; // number of times
    std::chrono::steady_clock::time_point time;
};

struct Stream {
    std::deque<std::function<void()>> work;

    void step() {
        auto next = std::move(work.front());
        work.pop_front();
        next();
    }

    // reach works until an event has been reached for the n-th time.
    void reach(Event &event, u64 n) {
        while (event.reached < n) step();
    }

    void finish() {
        while (!work.empty()) step();
    }
};

using Module = std::map<std::string, size_t>; // kernel in a PTX -> its parameters

struct Context {
    int device;
    std::map<u64, u64> memory, pinned; // address -> bytes
    std::set<std::unique_ptr<Stream>> streams;
    std::set<std::unique_ptr<Event>> events;
    std::set<std::unique_ptr<Module>> modules;
    std::deque<std::function<void()>> copies; // that have not arrived: they wait for no stream, and no stream for them

    ~Context();
};

template <class T>
static bool holds(const std::set<std::unique_ptr<T>> &all, T *one) {
    for (auto &element : all) {
        if (element.get() == one) return true;
    }
    return false;
}

// within reports whether a range is inside one of the allocations.
static bool within(const std::map<u64, u64> &allocations, u64 address, u64 bytes) {
    auto next = allocations.upper_bound(address);
    if (next == allocations.begin()) return false;
    auto [start, size] = *std::prev(next);
    return address + bytes <= start + size;
}

static std::mutex lock;
static int devices;
static u64 device_memory;
static std::map<int, u64> used; // device -> bytes
static std::string failing;
static long failing_call;
static int failure;
static std::map<std::string, long> calls;
static thread_local Context *current;

static u64 paged(u64 bytes) { return (bytes + 4095) / 4096 * 4096; }
static u64 aligned(u64 bytes) { return (bytes + 15) / 16 * 16; }

Context::~Context() {
    for (auto [address, bytes] : memory) {
        munmap((void *)(address + aligned(bytes) - paged(bytes)), paged(bytes) + 4096);
        used[device] -= bytes;
    }
    for (auto [address, bytes] : pinned) free((void *)address);
}

// begin counts a call and returns the error to fail with.
static int begin(const char *name) {
    long n = ++calls[name];
    return failing == name && n == failing_call ? failure : SUCCESS;
}

// Every function begins with one of these.
#define ENTER                                                                                                          \
    std::lock_guard<std::mutex> guard(lock);                                                                           \
    if (int result = begin(__func__)) return result
#define ENTER_CONTEXT                                                                                                  \
    ENTER;                                                                                                             \
    if (!current) return INVALID_CONTEXT

static std::string setting(const char *name, const char *otherwise) {
    const char *value = getenv(name);
    return value ? value : otherwise;
}

extern "C" {

int cuInit(unsigned) {
    std::lock_guard<std::mutex> guard(lock);
    calls.clear();
    used.clear(); // including contexts that could not be destroyed
    devices = std::stoi(setting("FAKE_CUDA_DEVICES", "1"));
    device_memory = std::stoull(setting("FAKE_CUDA_MEMORY", "1073741824"));
    std::string spec = setting("FAKE_CUDA_FAIL", ":0:0");
    size_t first = spec.find(':'), second = spec.rfind(':');
    failing = spec.substr(0, first);
    failing_call = std::stol(spec.substr(first + 1));
    failure = std::stoi(spec.substr(second + 1));
    return begin(__func__);
}

int cuGetErrorString(int result, const char **text) {
    static const std::map<int, const char *> texts = {
        {OUT_OF_MEMORY, "out of memory"},
        {NO_DEVICE, "no CUDA-capable device is detected"},
    };
    ENTER;
    auto found = texts.find(result);
    *text = found == texts.end() ? nullptr : found->second;
    return *text ? SUCCESS : INVALID_VALUE;
}

int cuDeviceGetCount(int *count) {
    ENTER;
    *count = devices;
    return SUCCESS;
}

int cuDeviceGet(int *device, int ordinal) {
    ENTER;
    if (ordinal < 0 || ordinal >= devices) return INVALID_DEVICE;
    *device = ordinal;
    return SUCCESS;
}

int cuDeviceGetName(char *name, int length, int device) {
    ENTER;
    snprintf(name, length, "Fake %c", 'A' + device);
    return SUCCESS;
}

int cuCtxCreate_v2(Context **context, unsigned, int device) {
    ENTER;
    if (device < 0 || device >= devices) return INVALID_DEVICE;
    *context = current = new Context{device};
    return SUCCESS;
}

int cuCtxDestroy_v2(Context *context) {
    ENTER_CONTEXT;
    if (context != current) return INVALID_CONTEXT;
    std::string path = setting("FAKE_CUDA_CALLS", "");
    if (!path.empty()) {
        std::ofstream file(path);
        for (auto &[name, n] : calls) file << name << ' ' << n << '\n';
    }
    delete context;
    current = nullptr;
    return SUCCESS;
}

int cuMemGetInfo_v2(size_t *available, size_t *total) {
    ENTER_CONTEXT;
    *available = device_memory - used[current->device];
    *total = device_memory;
    return SUCCESS;
}

int cuMemAlloc_v2(u64 *address, size_t bytes) {
    ENTER_CONTEXT;
    if (bytes == 0) return INVALID_VALUE;
    if (used[current->device] + bytes > device_memory) return OUT_OF_MEMORY;
    void *pages = mmap(nullptr, paged(bytes) + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return OUT_OF_MEMORY;
    memset(pages, 0xCD, paged(bytes));
    mprotect((char *)pages + paged(bytes), 4096, PROT_NONE);
    *address = (u64)pages + paged(bytes) - aligned(bytes);
    current->memory[*address] = bytes;
    used[current->device] += bytes;
    return SUCCESS;
}

int cuMemHostAlloc(void **memory, size_t bytes, unsigned) {
    ENTER_CONTEXT;
    *memory = malloc(bytes);
    memset(*memory, 0xCD, bytes);
    current->pinned[(u64)*memory] = bytes;
    return SUCCESS;
}

int cuMemcpyHtoD_v2(u64 to, const void *from, size_t bytes) {
    ENTER_CONTEXT;
    if (!within(current->memory, to, bytes)) return INVALID_VALUE;
    std::string staged((const char *)from, bytes);
    current->copies.push_back([=] { memcpy((void *)to, staged.data(), staged.size()); });
    return SUCCESS;
}

int cuCtxSynchronize() {
    ENTER_CONTEXT;
    for (auto &copy : current->copies) copy();
    current->copies.clear();
    for (auto &stream : current->streams) stream->finish();
    return SUCCESS;
}

int cuMemcpyHtoDAsync_v2(u64 to, const void *from, size_t bytes, Stream *stream) {
    ENTER_CONTEXT;
    if (!holds(current->streams, stream)) return INVALID_HANDLE;
    if (!within(current->memory, to, bytes) || !within(current->pinned, (u64)from, bytes)) return INVALID_VALUE;
    stream->work.push_back([=] { memcpy((void *)to, from, bytes); });
    return SUCCESS;
}

int cuMemcpyDtoHAsync_v2(void *to, u64 from, size_t bytes, Stream *stream) {
    ENTER_CONTEXT;
    if (!holds(current->streams, stream)) return INVALID_HANDLE;
    if (!within(current->memory, from, bytes) || !within(current->pinned, (u64)to, bytes)) return INVALID_VALUE;
    stream->work.push_back([=] { memcpy(to, (void *)from, bytes); });
    return SUCCESS;
}

int cuMemsetD8Async(u64 address, unsigned char value, size_t bytes, Stream *stream) {
    ENTER_CONTEXT;
    if (!holds(current->streams, stream)) return INVALID_HANDLE;
    if (!within(current->memory, address, bytes)) return INVALID_VALUE;
    stream->work.push_back([=] { memset((void *)address, value, bytes); });
    return SUCCESS;
}

int cuModuleLoadDataEx(Module **module, const char *ptx, unsigned count, const int *options, void **values) {
    enum { ERROR_LOG = 5, ERROR_BYTES = 6 };
    ENTER_CONTEXT;
    std::map<int, void *> given;
    for (unsigned i = 0; i < count; i++) given[options[i]] = values[i];
    std::string text = ptx;
    auto found = std::make_unique<Module>();
    const std::string entry = "\n.visible .entry ", parameter = ".param .u64 ";
    for (size_t at = 0; (at = text.find(entry, at)) != std::string::npos;) {
        size_t open = text.find('(', at += entry.size()), close = text.find(')', open);
        size_t &parameters = (*found)[text.substr(at, open - at)];
        for (size_t next = open; (next = text.find(parameter, next)) < close; next += parameter.size()) parameters++;
        at = close;
    }
    if (text.find(".version") == std::string::npos || found->empty()) {
        if (given.count(ERROR_LOG)) {
            snprintf((char *)given[ERROR_LOG], (size_t)given[ERROR_BYTES], "ptxas fatal   : no kernel\n");
        }
        return INVALID_PTX;
    }
    *module = found.get();
    current->modules.insert(std::move(found));
    return SUCCESS;
}

int cuModuleGetFunction(const HostKernel **function, Module *module, const char *name) {
    ENTER_CONTEXT;
    if (!holds(current->modules, module)) return INVALID_HANDLE;
    auto entry = module->find(name);
    auto kernel = host_kernels.find(name);
    if (entry == module->end() || kernel == host_kernels.end()) return NOT_FOUND;
    if (entry->second != kernel->second.parameters) return INVALID_PTX;
    *function = &kernel->second;
    return SUCCESS;
}

int cuLaunchKernel(const HostKernel *kernel, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned threads_y,
                   unsigned threads_z, unsigned, Stream *stream, void **parameters, void **) {
    ENTER_CONTEXT;
    if (!holds(current->streams, stream)) return INVALID_HANDLE;
    bool fits = x > 0 && x < 1u << 31 && y > 0 && y < 65536 && z == 1 && threads > 0 && threads <= 1024;
    if (!fits || threads_y != 1 || threads_z != 1) return INVALID_VALUE;
    std::vector<u64> values;
    for (size_t i = 0; i < kernel->parameters; i++) values.push_back(*(u64 *)parameters[i]);
    static bool backwards;
    backwards = !backwards;
    stream->work.push_back([=, backwards = backwards] {
        u64 blocks = (u64)x * y;
        for (u64 i = 0; i < blocks; i++) {
            u64 block = backwards ? blocks - 1 - i : i;
            here = {0, threads, block % x, block / x, x};
            for (unsigned k = 0; k < threads; k++) {
                here.thread_x = backwards ? threads - 1 - k : k;
                kernel->call(values.data());
            }
        }
    });
    return SUCCESS;
}

int cuStreamCreate(Stream **stream, unsigned) {
    ENTER_CONTEXT;
    *stream = current->streams.insert(std::make_unique<Stream>()).first->get();
    return SUCCESS;
}

int cuStreamWaitEvent(Stream *stream, Event *event, unsigned) {
    ENTER_CONTEXT;
    if (!holds(current->streams, stream) || !holds(current->events, event)) return INVALID_HANDLE;
    if (event->recorded == 0) return SUCCESS;
    stream->work.push_back([=, from = event->stream, n = event->recorded] { from->reach(*event, n); });
    return SUCCESS;
}

int cuEventCreate(Event **event, unsigned) {
    ENTER_CONTEXT;
    *event = current->events.insert(std::make_unique<Event>()).first->get();
    return SUCCESS;
}

int cuEventRecord(Event *event, Stream *stream) {
    ENTER_CONTEXT;
    if (!holds(current->streams, stream) || !holds(current->events, event)) return INVALID_HANDLE;
    event->stream = stream;
    u64 n = ++event->recorded;
    stream->work.push_back([=] {
        event->reached = n;
        event->time = std::chrono::steady_clock::now();
    });
    return SUCCESS;
}

int cuEventSynchronize(Event *event) {
    ENTER_CONTEXT;
    if (!holds(current->events, event)) return INVALID_HANDLE;
    if (event->recorded > 0) event->stream->reach(*event, event->recorded);
    return SUCCESS;
}

int cuEventElapsedTime(float *milliseconds, Event *start, Event *end) {
    ENTER_CONTEXT;
    if (!holds(current->events, start) || !holds(current->events, end)) return INVALID_HANDLE;
    if (start->recorded == 0 || start->reached < start->recorded || end->recorded == 0 || end->reached < end->recorded) return NOT_READY;
    *milliseconds = std::chrono::duration<float, std::milli>(end->time - start->time).count();
    return SUCCESS;
}

} // extern "C"
