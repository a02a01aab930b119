// Calling the program as a person does, against the fake worker (fake_worker.cpp), whose stages claim
// what stands in stages/ beside this file.
#pragma once

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/call_program.hpp"
#include "tests/catch.hpp"
#include "tests/files.hpp"

namespace lab::test {

// Counters that the fake stages claim, and that the fake worker counts.
inline constexpr const char* load_requests = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum";
inline constexpr const char* load_sectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";

// `lab` with these arguments, where the CUDA worker is the fake one.
inline strings command(const strings& arguments, const std::string& mode = "") {
  strings all{"/usr/bin/env", "FAKE_WORKER=" + mode, std::string("LAB_WORKER_CUDA=") + LAB_FAKE_WORKER,
              "LAB_STAGES=" LAB_FAKE_STAGES, LAB_PROGRAM};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return all;
}

// The same on a machine without a GPU.
inline strings command_without_gpu(const strings& arguments) {
  strings all{"/usr/bin/env",
              "FAKE_WORKER=emulator",
              "LAB_WORKER_CUDA=/nonexistent/worker",
              std::string("LAB_WORKER_EMULATOR=") + LAB_FAKE_WORKER,
              "LAB_STAGES=" LAB_FAKE_STAGES,
              LAB_PROGRAM};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return all;
}

inline outcome run(const strings& command_line) {
  return call_program(command_line, std::chrono::seconds(600));
}

inline outcome lab_with(const strings& arguments, const std::string& mode = "") {
  return run(command(arguments, mode));
}

inline nlohmann::json document(const std::filesystem::path& path) {
  return nlohmann::json::parse(get(path));
}

}  // namespace lab::test
