#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>

#include "kernel.h"

// A kernel that the host can run: call runs the thread at `here`.
struct HostKernel {
    size_t parameters;
    std::function<void(const u64 *parameters)> call;
};

extern const std::map<std::string, HostKernel> host_kernels;
