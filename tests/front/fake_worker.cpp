// A worker without kernels that behaves, and misbehaves, as the stage's name says. FAKE_WORKER says how it
// starts:
// "" (a GPU), "turns" (a GPU that rows share), "emulator", "no device", "dies", "sleeps", "other protocol",
// "no stages".
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include "harness/grade/seal.hpp"
#include "harness/protocol.hpp"
#include "harness/trace_record.hpp"
#include "harness/turns.hpp"

namespace {

using nlohmann::json;

void send_text(const std::string& text) {
  std::size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t count = write(lab::answer_descriptor, text.data() + sent, text.size() - sent);
    if (count <= 0) _exit(0);
    sent += static_cast<std::size_t>(count);
  }
}

// Of the one request that this process answers.
std::optional<lab::seal_key> key;  // of a request that has one
std::uint64_t lines_sent = 0;
std::size_t request_bytes = 0;

std::string line_of(const json& message) {
  return (key ? lab::sealed(*key, lines_sent++, message.dump()) : message.dump()) + "\n";
}
void send(const json& message) {
  send_text(line_of(message));
}

lab::parameter_description parameter(const std::string& name, std::vector<lab::parameter_value> bench) {
  lab::parameter_description result;
  result.name = name;
  result.meaning = "what " + name + " means";
  result.minimum = 1;
  result.verify_defaults = {17};
  result.bench_defaults = std::move(bench);
  return result;
}

lab::stage_description stage(const std::string& track, const std::string& name) {
  lab::stage_description result;
  result.name = name;
  result.path = track + "/" + name;
  result.idea = "the idea of " + name;
  result.library = name.find("library") != std::string::npos;
  if (name.find("not_runnable") != std::string::npos) {
    result.needs = "GPU, compute capability 12.0";
    result.runnable = false;
    result.why_not = "needs compute capability 12.0, and this is 9.0";
  }
  return result;
}

lab::track_description track(const std::string& name, std::vector<lab::parameter_description> parameters,
                             const std::vector<std::string>& stages) {
  lab::track_description result;
  result.name = name;
  result.title = "The track " + name;
  result.unit = "float";
  result.parameters = std::move(parameters);
  for (const auto& one : stages) result.stages.push_back(stage(name, one));
  return result;
}

json describe(const std::string& mode, const std::string& device) {
  lab::worker_description description;
  description.build = {"fake compiler", "-fake"};
  if (mode == "other protocol") description.protocol = 99;
  if (mode == "emulator") {
    description.device = lab::device_record{};
    description.device->id = "emulator";
    description.device->name = "some processor";
  } else if (mode != "no device" && device == "0") {
    description.device = lab::device_record{};
    description.device->id = "cuda:0";
    description.device->name = "Fake GPU";
    description.device->compute_capability = "9.0";
    description.device->driver = "1.2.3 (CUDA 13.0)";
    description.device->toolkit = "13.0";
    description.device->multiprocessors = 132;
    description.device->memory_bytes = 150'000'000'000;
  } else {
    description.no_device =
        mode == "no device" ? "no CUDA-capable device is detected" : "there is only cuda:0";
  }
  if (mode == "turns") {
    description.tracks = {track("turns", {parameter("n", {1000, 2000})},
                                {"01_first", "02_second", "03_large", "04_fourth", "05_fifth"})};
  } else if (mode != "no stages") {
    description.tracks = {
        track("ladder", {parameter("n", {1000}), parameter("window", {3})},
              {"01_first", "02_second", "03_library"}),
        track("faults", {parameter("n", {1000})},
              {"01_wrong", "02_crash", "03_exit", "04_garbage", "05_sticky", "06_memory", "07_unsupported",
               "08_not_runnable", "09_good"}),
        track("odd", {parameter("n", {1000})},
              {"01_huge", "02_pieces", "03_noisy", "04_unstable", "05_incomplete"}),
        track("light", {parameter("n", {1000})}, {"01_slow", "02_faster_than_light"}),
        track("hang", {parameter("n", {1000})}, {"01_good", "02_hang", "03_good"}),
        track("refusal", {parameter("n", {1000})}, {"01_usage"}),
        track("claims", {parameter("n", {1000})},
              {"01_first", "02_kept", "03_library", "04_unstable", "05_wrong"}),
        track("own_counters", {parameter("n", {1000})}, {"01_barriers"}),
        track("lies", {parameter("n", {1000})}, {"01_first", "02_broken"}),
        track("references", {parameter("n", {1000})}, {"01_tells_much", "02_reads_little"}),
        track("answers", {parameter("n", {1000})}, {"01_forged", "02_repeated", "03_escapes"})};
  }
  return description;
}

// At work for so long, by the processor's own count.
void work_for(double seconds) {
  const std::clock_t began = std::clock();
  while (static_cast<double>(std::clock() - began) < seconds * CLOCKS_PER_SEC) {
  }
}

json timing(double median, std::size_t samples = 10) {
  lab::timing_record record;
  record.median = median;
  record.minimum = median * 0.99;
  record.maximum = median * 1.01;
  record.lower_quartile = median * 0.999;
  record.upper_quartile = median * 1.001;
  record.interquartile_range = median * 0.002;
  record.spread = 0.002;
  record.samples.assign(samples, median);
  record.l2 = lab::cache_state::cold;
  return record;
}

// The seeds of the request that is answered.
std::uint64_t seed = 1, trial_seed = 2;

json verification() {
  lab::verification_record record;
  record.passed = true;
  record.cases = 5;
  record.compared = 1000;
  record.largest_error = 0.25;
  record.seeds = {seed, trial_seed};
  return record;
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

json ok(double median, std::size_t samples = 10) {
  return {{"end", "ok"}, {"verification", verification()}, {"timing", timing(median, samples)}};
}

// Samples of 200 us by the host's clock, which the front does not take on trust.
void answer_stage(const std::string& stage_path) {
  const std::string name = stage_path.substr(stage_path.rfind('/') + 1);
  if (contains(name, "wrong")) {
    lab::verification_record record;
    record.cases = 1;
    record.largest_error = std::nan("");
    record.failure = lab::failure_record{};
    record.failure->index = 17;
    record.failure->expected = "3.5";
    record.failure->found = "nan";
    record.failure->block = "0";
    record.failure->thread = "17";
    send({{"end", "failed"},
          {"message", "wrong at index 17: expected 3.5, found nan, block 0, thread 17"},
          {"failure", *record.failure},
          {"verification", record}});
  } else if (contains(name, "crash")) {
    std::fprintf(stderr, "about to crash\n");
    std::signal(SIGSEGV, SIG_DFL);  // a sanitizer's handler would make an exit of it
    std::raise(SIGSEGV);
  } else if (contains(name, "exit")) {
    _exit(3);
  } else if (contains(name, "garbage")) {
    send_text("this is not JSON\n");
  } else if (contains(name, "forged")) {
    send_text(ok(200e3).dump() + "\n");
  } else if (contains(name, "repeated")) {
    const std::string line = line_of({{"progress", "once"}});
    send_text(line + line);
  } else if (contains(name, "escapes")) {
    std::printf("\x1b[2Jprinted\n");
    std::fflush(stdout);
    send({{"end", "failed"}, {"message", "\x1b[31mred\u202e\nnext line"}, {"failure", {{"kind", "wrong"}}}});
  } else if (contains(name, "sticky")) {
    send({{"end", "failed"},
          {"message", "an illegal memory access was encountered"},
          {"failure", {{"kind", "crash"}}}});
    _exit(3);
  } else if (contains(name, "memory")) {
    send({{"end", "error"},
          {"message", "not enough memory"},
          {"kind", "memory"},
          {"needed_bytes", 16'000'000'000},
          {"free_bytes", 9'300'000'000}});
  } else if (contains(name, "unsupported")) {
    send({{"end", "error"}, {"message", "window 20000 exceeds 4096"}, {"kind", "unsupported"}});
  } else if (contains(name, "huge")) {
    send(ok(200e3, 300'000));
  } else if (contains(name, "pieces")) {
    std::string text = line_of({{"progress", "half way"}});
    text += line_of(ok(200e3));
    for (std::size_t i = 0; i < text.size(); i += 100) {
      send_text(text.substr(i, 100));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  } else if (contains(name, "noisy")) {
    const std::string noise(1000, 'x');
    for (int i = 0; i < 300; ++i) std::printf("%s\n", noise.c_str());
    std::fflush(stdout);
    send(ok(200e3));
  } else if (contains(name, "unstable")) {
    json message = ok(200e3);
    message["timing"]["unstable"] = true;
    message["timing"]["lower_quartile"] = 190e3;
    message["timing"]["upper_quartile"] = 230e3;
    send(message);
  } else if (contains(name, "incomplete")) {
    send({{"end", "ok"}});
  } else if (contains(name, "faster_than_light")) {
    send(ok(50e3));
  } else if (contains(name, "tells_much")) {
    json message = ok(200e3);
    for (int k = 0; k < 400; ++k) message["references"]["key " + std::to_string(k)] = std::string(1000, '7');
    send(message);
  } else if (contains(name, "reads_little")) {
    // As a worker: what is beyond is cut off.
    constexpr std::size_t longest_request = std::size_t{1} << 18;
    const bool was_told = request_bytes > 10'000;
    if (request_bytes > longest_request || !was_told)
      send({{"end", "error"}, {"message", "malformed request"}, {"kind", "usage"}});
    send(ok(200e3));
  } else if (contains(name, "tells")) {
    // For a second or for ever.
    for (int i = 0; i < 10 || contains(name, "for_ever"); ++i) {
      send({{"progress", "trial " + std::to_string(i)}});
      work_for(0.1);
    }
    send(ok(200e3));
    _exit(0);
  } else if (contains(name, "sleeps")) {
    std::this_thread::sleep_for(std::chrono::hours(1));
  } else if (contains(name, "is_not_let")) {
    // As on a machine that has other work.
    std::this_thread::sleep_for(std::chrono::milliseconds(2500));
    send(ok(200e3));
  } else if (contains(name, "hang")) {
    work_for(3600);
  } else if (contains(name, "usage")) {
    send({{"end", "error"}, {"message", "n must be even"}, {"kind", "usage"}});
  } else {
    send(ok(contains(name, "first") ? 400e3 : contains(name, "library") ? 125e3 : 200e3));
  }
}

// One of the rows that share a GPU: 400 us where it was asked behind the row before, 300 us where that was
// still there. The large stage needs the memory of both, and takes 200 us where it is asked for the second
// time.
void answer_in_turn(const std::string& stage_path) {
  namespace fs = std::filesystem;
  const fs::path folder = std::getenv(lab::turns_variable);
  send({{"progress", lab::next_may_begin}});
  const int row = open((folder / lab::row_turn).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const bool has_company = flock(row, LOCK_EX | LOCK_NB) != 0;
  close(row);
  const bool is_large = contains(stage_path, "large");
  const fs::path refused = folder / "refused";
  if (is_large && has_company) {
    std::ofstream(refused) << "once";
    answer_stage("memory");
    return;
  }
  { const lab::turn alone(lab::row_turn); }
  int before = 0;
  std::ifstream(folder / "before") >> before;
  if (before != 0 && kill(before, 0) == 0) {
    answer_stage("wrong");
    return;
  }
  std::ofstream(folder / "before") << getpid();
  send({{"progress", lab::timing_is_over}});
  // The next one has come as far as its timing meanwhile.
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  send(ok(is_large && fs::exists(refused) ? 200e3 : has_company ? 300e3 : 400e3));
}

// As the worker with observed kernels: the first stage touches twice as many sectors.
void answer_counters(const std::string& stage_path) {
  if (contains(stage_path, "wrong")) {
    answer_stage(stage_path);
    return;
  }
  lab::profile_record profile{.modelled = true};
  profile.kernels.push_back({.name = "kernel",
                             .launches = 1,
                             .metrics = {{"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 1024},
                                         {"lab__barriers.sum", 3},
                                         {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
                                          contains(stage_path, "first") ? 8192 : 4096}}});
  send({{"end", "ok"}, {"verification", verification()}, {"profile", profile}});
}

// Two launches and a wait of the host, of which the first stage has one more; the device works 3 of 7 us.
void answer_trace(const std::string& stage_path) {
  lab::trace_record trace{.host_end = 9000};
  trace.events = {
      {"range", "range", stage_path, 0, 9000, 0},
      {"host", "launch", "cudaLaunchKernel", 1000, 2000, 0},
      {"device", "kernel", "lab::(anonymous namespace)::a_kernel<int, <script>>(int)", 2000, 4000, 0},
      {"host", "launch", "cudaLaunchKernel", 3000, 4000, 0},
      {"host", "wait", "cudaStreamSynchronize", 5000, 8000, 0},
      {"device", "copy", "device to host", 8000, 9000, 4096}};
  if (contains(stage_path, "first"))
    trace.events.push_back({"host", "wait", "cudaStreamSynchronize", 8500, 9000, 0});
  send({{"end", "ok"}, {"verification", verification()}, {"trace", trace}});
}

void answer(const json& request, const std::string& mode, const std::string& device) {
  const auto op = request.at("op").get<std::string>();
  seed = request.value("seed", std::uint64_t{1});
  trial_seed = request.value("trial_seed", std::uint64_t{2});
  if (op == "describe") {
    json message = describe(mode, device);
    message["end"] = "ok";
    send(message);
  } else if (op == "floor") {
    send({{"end", "ok"}, {"timing", timing(2100)}});
  } else if (op == "ceiling") {
    const auto n = request.at("parameters").at("n").get<std::int64_t>();
    send({{"end", "ok"}, {"ceiling", {{"kind", "copy"}, {"bytes", 8 * n}, {"timing", timing(100e3)}}}});
  } else if (op == "trace" && !contains(request.at("stage").get<std::string>(), "wrong")) {
    answer_trace(request.at("stage").get<std::string>());
  } else if (op == "measure" && mode == "turns") {
    answer_in_turn(request.at("stage").get<std::string>());
  } else if (op == "counters") {
    answer_counters(request.at("stage").get<std::string>());
  } else {
    answer_stage(request.at("stage").get<std::string>());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const char* mode_text = std::getenv("FAKE_WORKER");
  const std::string mode = mode_text == nullptr ? "" : mode_text;
  if (mode == "dies") {
    std::fprintf(stderr, "error while loading shared libraries: libfake.so\n");
    return 127;
  }
  if (mode == "sleeps") std::this_thread::sleep_for(std::chrono::hours(1));
  const std::string device = argc >= 3 ? argv[2] : "0";
  std::string received;
  char buffer[4096];
  ssize_t count = 0;
  while (received.find('\n') == std::string::npos &&
         (count = read(lab::request_descriptor, buffer, sizeof buffer)) > 0)
    received.append(buffer, static_cast<std::size_t>(count));
  request_bytes = received.size();
  if (received.front() != '{') {
    key = {lab::from_hexadecimal(received.substr(0, 16)).value(),
           lab::from_hexadecimal(received.substr(16, 16)).value()};
    received.erase(0, 32);
  }
  const json request = json::parse(received);
  answer(request, mode, device);
  return 0;
}
