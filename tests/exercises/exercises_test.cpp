// Exercises as students and teachers meet them: the stages pass their own checks, what students begin with
// fails where it should, and a solution in a student's file passes. Only a few beginnings are compiled, and
// an eighth of the solutions checked, unless LAB_EXERCISES_ALL is set.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/front/exercises/exercise_file.hpp"
#include "harness/front/process/child_process.hpp"
#include "tests/call_program.hpp"
#include "tests/catch.hpp"
#include "tests/files.hpp"
#include "tests/temporary_directory.hpp"

namespace {

using lab::test::call_program;
using lab::test::contains;
using lab::test::expect;
using lab::test::outcome;
using lab::test::temporary_directory;
using nlohmann::json;
using strings = std::vector<std::string>;

// A workbook of a student's.
class workbook {
 public:
  [[nodiscard]] outcome lab(strings arguments) const {
    arguments.insert(arguments.begin(),
                     {"/usr/bin/env", "LAB_EXERCISES=" + directory_.path().string(), LAB_PROGRAM});
    return lab::test::call_program(arguments, std::chrono::seconds(1200));
  }
  [[nodiscard]] std::filesystem::path file(const std::string& exercise, const char* name) const {
    return directory_ / exercise / name;
  }
  // Answers every question somehow, with a sentence: "I think that it is so".
  void predict(const std::string& path) const {
    const auto exercise = lab::front::find_exercise(path);
    REQUIRE(exercise);
    json answers;
    for (const auto& asked : exercise->predictions) {
      answers[asked.name] = {{"answer", asked.choices.empty() ? json(1) : json(asked.choices.front())},
                             {"why", "I think that it is so"}};
    }
    lab::test::put(file(path, "predictions.json"), answers.dump());
  }
  // Makes the exercise and predicts.
  void begin(const std::string& path) const {
    const outcome created = lab({"new", "--exercise", path, "--student", "anna"});
    INFO(created.text);
    REQUIRE(created.code == 0);
    predict(path);
  }

 private:
  temporary_directory directory_;
};

std::string stage_source(const std::string& stage) {
  return lab::test::get(lab::front::stages_directory() / stage / "stage.cu");
}

bool all_are_compiled() {
  const char* const wanted = std::getenv("LAB_EXERCISES_ALL");
  return wanted != nullptr && *wanted != '\0';
}

// Refuses the beginning of an exercise in the words that its file promises.
void check_beginning(const workbook& book, const std::string& path) {
  CAPTURE(path);
  book.begin(path);
  const outcome found = book.lab({"check", path});
  INFO(found.text);
  expect(found, 1, {lab::front::find_exercise(path)->start_fails});
  // A wrong output is named by its index, or differs from launch to launch; all else has a line.
  CHECK((contains(found.text, path + "/stage.cu:") || contains(found.text, "wrong at index ") ||
         contains(found.text, "was never written") || contains(found.text, "found other bits")));
}

}  // namespace

TEST_CASE("every stage passes the check of its own exercise, whatever the student's sizes") {
  const workbook book;
  const auto paths = lab::front::exercise_paths();
  CHECK(paths.size() >= 30);
  for (std::size_t k = 0; k < paths.size(); ++k) {
    if (k % 8 != 0 && !all_are_compiled()) continue;
    const std::string& path = paths[k];
    CAPTURE(path);
    // One student each, for time's sake: together they get many of the sizes.
    const outcome found =
        book.lab({"check", path, "--solution", "--student", "s-" + path.substr(path.find('/') + 1)});
    expect(found, 0, {path + ": PASSED"});
  }
}

TEST_CASE("what a student begins with fails, an empty part before anything is compiled") {
  const workbook book;
  for (const std::string& path : lab::front::exercise_paths()) {
    const auto exercise = lab::front::find_exercise(path);
    const bool is_empty = std::any_of(exercise->regions.begin(), exercise->regions.end(),
                                      [](const auto& region) { return region.start.empty(); });
    const bool is_tried = path == "shared_tile/01_synchronized";
    if (is_empty || is_tried || all_are_compiled()) check_beginning(book, path);
  }
}

// Right and sound, and yet not what the exercise teaches: one thread works for its block, or threads do what
// others have done already.
struct wasteful {
  const char* path;
  const char* region;
  const char* part;    // instead of the solution's
  const char* missed;  // the checkpoint that notices
};

constexpr wasteful all_wasteful[] = {
    {"moving_average/02_shared_memory", "load",
     "if (threadIdx.x == 0) {\n"
     "  for (std::int64_t k = 0; k < block_threads + halo; ++k) {\n"
     "    const std::int64_t j = first - halo + k;\n"
     "    tile[k] = j >= 0 && j < n ? values[j] : 0.0;\n"
     "  }\n"
     "}\n"
     "__syncthreads();",
     "requests"},
    {"reduction/02_tree", "tree",
     "if (thread == 0) {\n"
     "  for (int k = 1; k < block_threads; ++k) of_thread[0] = combine(of_thread[0], of_thread[k]);\n"
     "}\n"
     "for (int half = block_threads / 2; half > 0; half /= 2) __syncthreads();",
     "reads"},
    {"elementwise/01_naive", "element",
     "if (threadIdx.x == 0) {\n"
     "  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * block_threads;\n"
     "  for (std::int64_t i = first; i < first + block_threads && i < n; ++i) doubled[i] = 2 * values[i];\n"
     "}",
     "store_requests"},
    {"elementwise/02_grid_stride", "walk",
     "if (threadIdx.x > 0) return;\n"
     "for (std::int64_t i = blockIdx.x; i < n; i += gridDim.x) doubled[i] = 2 * values[i];",
     "store_requests"},
    {"elementwise/03_vectorized", "pair",
     "if (threadIdx.x == 0) {\n"
     "  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * block_threads;\n"
     "  for (std::int64_t i = first; i < first + block_threads && i < n / 2; ++i) {\n"
     "    const double2 pair = reinterpret_cast<const double2*>(values)[i];\n"
     "    reinterpret_cast<double2*>(doubled)[i] = make_double2(2 * pair.x, 2 * pair.y);\n"
     "  }\n"
     "  if (n % 2 == 1 && blockIdx.x == gridDim.x - 1) doubled[n - 1] = 2 * values[n - 1];\n"
     "}",
     "requests"},
    {"moving_average/01_naive", "sum",
     "if (threadIdx.x > 0 && i != window - 1) return;\n"
     "const std::int64_t end = (static_cast<std::int64_t>(blockIdx.x) + 1) * block_threads;\n"
     "for (std::int64_t k = i; k < n && k < end; ++k) {\n"
     "  double sum = 0;\n"
     "  for (std::int64_t j = k - window + 1; j <= k; ++j) sum += values[j];\n"
     "  averages[k] = sum / static_cast<double>(window);\n"
     "}",
     "requests"},
    {"moving_average/03_thread_tiled", "update",
     "sum = 0;\n"
     "summed = true;\n"
     "for (std::int64_t k = place; k <= place + halo; ++k) sum += tile[k];",
     "reads"},
    {"moving_average/04a_block_window", "differences",
     "double sum[per_thread];\n"
     "double before = 0;\n"
     "for (int other = 0; other < block_threads; ++other) before += window_parts[other];\n"
     "for (int k = 0; k < thread * per_thread; ++k) before += tile[k + window] - tile[k];\n"
     "double total = 0;\n"
     "for (int v = 0; v < per_thread; ++v) {\n"
     "  const int k = thread * per_thread + v;\n"
     "  total += tile[k + window] - tile[k];\n"
     "  sum[v] = total;\n"
     "}\n"
     "totals[thread] = total;",
     "reads"},
    {"moving_average/04b_warp_scan", "scan",
     "double before = 0;\n"
     "double passed = total;\n"
     "for (int step = 1; step < 32; ++step) {\n"
     "  passed = __shfl_up_sync(~0U, passed, 1);\n"
     "  if (lane >= step) before += passed;\n"
     "}\n"
     "if (lane == 31) warp_totals[warp] = before + total;",
     "shuffles"},
    {"moving_average/05_block_scan", "store",
     "for (int v = 0; v < per_thread; ++v) tile[thread * per_thread + v] = (before + sum[v]) / window;\n"
     "__syncthreads();\n"
     "if (thread > 0) return;\n"
     "for (int k = 0; k < tile_outputs; ++k) {\n"
     "  const std::int64_t i = first + k;\n"
     "  if (i < n) averages[i] = i < window - 1 ? incomplete : tile[k];\n"
     "}",
     "stores"},
    {"moving_average/06_suffix_prefix", "scans",
     "for (int k = 0; k < count; k += tile) __syncthreads();\n"
     "for (int v = 0; v < per_thread; ++v) {\n"
     "  sum[v] = 0;\n"
     "  for (int back = window - 1; back >= 0; --back) sum[v] += tiles[count - tile + sums.first + v - "
     "back];\n"
     "}",
     "reads"},
    {"moving_average/07_ring", "ahead",
     "double* values_here = ring + slot * tile;\n"
     "for (int v = 0; v < per_thread; ++v) {\n"
     "  values_here[v * block_threads + thread] = next[v];\n"
     "  results[v * block_threads + thread] = next[v];\n"
     "}\n"
     "read(start + tile);\n"
     "__syncthreads();",
     "stores"},
    {"redact/01_api_chain", "slice",
     "Offset all = 0;\n"
     "for (Offset at = 0; at < whole.bytes; at += character_bytes(whole.chars[at])) ++all;\n"
     "Offset end = 0;\n"
     "for (int k = 0; k < characters && k < all; ++k) end += character_bytes(whole.chars[end]);\n"
     "return {whole.chars, end};",
     "loaded"},
    {"redact/02_device_malloc", "row",
     "auto* const out = static_cast<char*>(malloc(static_cast<std::size_t>(size)));\n"
     "if (out == nullptr) {\n"
     "  atomicAdd(rows_without_memory, 1ULL);\n"
     "} else {\n"
     "  for (int twice = 0; twice < 2; ++twice) write_public(out, names + name, parts);\n"
     "}\n"
     "chars = out;",
     "loaded"},
    {"redact/03_preallocated", "place",
     "const std::int64_t first = row / 256 * 256;\n"
     "Offset before = name_offsets[first];\n"
     "for (std::int64_t k = first; k < row; ++k) before += name_offsets[k + 1] - name_offsets[k];\n"
     "return chars + before + max_growth * row;",
     "loaded"},
    {"redact/04_two_pass.write", "write",
     "if (threadIdx.x > 0) return;\n"
     "for (std::int64_t k = row; k < rows && k < row + block_threads; ++k) {\n"
     "  char* out = chars + offsets[k];\n"
     "  const char* own = names + (k == row ? name : name_offsets[k]);\n"
     "  const Offset word = k == row ? visibility : visibility_offsets[k];\n"
     "  if (is_public(visibilities + word, visibility_offsets[k + 1] - word)) {\n"
     "    write_public(out, own, split(own, name_offsets[k + 1] - name_offsets[k]));\n"
     "  } else {\n"
     "    write_private(out);\n"
     "  }\n"
     "}",
     "requests"},
    {"redact/05_cooperative", "copy",
     "const auto* const staged = reinterpret_cast<const char*>(memory.chars);\n"
     "if (threadIdx.x > 0) return;\n"
     "for (Offset k = 0; k < end - begin; ++k) chars[begin + k] = staged[k];",
     "stores"},
    {"reduction/01_naive", "block",
     "for (int k = 1; k < block_threads; ++k) {\n"
     "  if (threadIdx.x == 0) partial = combine(partial, of_thread[k]);\n"
     "}\n"
     "T again = of_thread[0];\n"
     "for (int k = 1; k < block_threads; ++k) again = combine(again, of_thread[k]);\n"
     "if (threadIdx.x == 0) partials[blockIdx.x] = again == partial ? partial : again;",
     "loads"},
    {"reduction/04_vectorized.tail", "tail",
     "if (blockIdx.x == 0 && threadIdx.x < 16) {\n"
     "  for (std::int64_t i = whole * vector_values<T> + threadIdx.x; i < n; i += 16)\n"
     "    partial = combine(partial, values[i]);\n"
     "}",
     "requests"},
    {"reduction_2d/01_naive", "tree",
     "if (thread == 0) {\n"
     "  for (int k = 1; k < block_threads; ++k) of_thread[0] += of_thread[k];\n"
     "}\n"
     "for (int half = block_threads / 2; half > 0; half /= 2) __syncthreads();",
     "reads"},
    {"reduction_2d/04_split.tree", "tree",
     "for (int k = thread + lanes; thread < lanes && k < column_threads; k += lanes) {\n"
     "  Vector own = of_thread[thread];\n"
     "  add(own, of_thread[k]);\n"
     "  of_thread[thread] = own;\n"
     "}\n"
     "for (int half = column_threads / 2; half >= lanes; half /= 2) __syncthreads();",
     "reads"},
    {"rolling/02_monoid", "lift",
     "for (int k = 0; thread == 0 && k < count; ++k) {\n"
     "  const std::int64_t j = first + tile - count + k;\n"
     "  tiles[k] = j >= 0 && j < n ? operation.lift(values[j]) : operation.identity();\n"
     "}",
     "requests"},
    {"histogram/02_shared_bins", "count",
     "block_counts[threadIdx.x] = 0;\n"
     "__syncthreads();\n"
     "for (std::int64_t i = first; threadIdx.x == 0 && i < end; ++i) ++block_counts[bytes[i]];\n"
     "__syncthreads();\n"
     "atomicAdd(&counts[threadIdx.x], block_counts[threadIdx.x]);",
     "shared_atomics"},
    {"histogram/02_shared_bins", "count",
     "for (int k = 0; threadIdx.x == 0 && k < bins; ++k) block_counts[k] = 0;\n"
     "__syncthreads();\n"
     "for (std::int64_t i = first + threadIdx.x; i < end; i += block_threads)\n"
     "  atomicAdd(&block_counts[bytes[i]], 1u);\n"
     "__syncthreads();\n"
     "atomicAdd(&counts[threadIdx.x], block_counts[threadIdx.x]);",
     "zeroed"},
    {"histogram/02_shared_bins", "count",
     "block_counts[threadIdx.x] = 0;\n"
     "__syncthreads();\n"
     "for (std::int64_t i = first + threadIdx.x; i < end; i += block_threads)\n"
     "  atomicAdd(&block_counts[bytes[i]], 1u);\n"
     "__syncthreads();\n"
     "for (int k = 0; threadIdx.x == 0 && k < bins; ++k) atomicAdd(&counts[k], block_counts[k]);",
     "added"},
    {"reduction/06_last_block", "finish",
     "partial = Operation::identity();\n"
     "for (unsigned k = 0; threadIdx.x == 0 && k < gridDim.x; ++k)\n"
     "  partial = combine(partial, __ldcg(partials + k));",
     "requests"},
    {"reduction/09_dependent_launch", "result",
     "grid_dependency_sync();\n"
     "T total = Operation::identity();\n"
     "for (int k = 0; threadIdx.x == 0 && k < n; ++k) total = Operation{}(total, values[k]);\n"
     "total = block_reduce<block_threads>(total, Operation{});\n"
     "if (threadIdx.x == 0) *result = total;",
     "requests"},
    {"redact/04_two_pass", "size",
     "__shared__ Offset of_row[block_threads];\n"
     "for (std::int64_t k = row; threadIdx.x % 32 == 0 && k < rows && k < row + 32; ++k) {\n"
     "  const Offset own = name_offsets[k];\n"
     "  const Offset word = visibility_offsets[k];\n"
     "  of_row[threadIdx.x + k - row] = private_bytes;\n"
     "  if (is_public(visibilities + word, visibility_offsets[k + 1] - word))\n"
     "    of_row[threadIdx.x + k - row] = split(names + own, name_offsets[k + 1] - own).redacted_bytes();\n"
     "}\n"
     "__syncwarp();\n"
     "size = of_row[threadIdx.x];",
     "requests"},
    {"scan/01_hillis_steele", "steps",
     "for (int distance = 1; distance < tile; distance *= 2) __syncthreads();\n"
     "T run = Operation::identity();\n"
     "for (int k = 0; thread == 0 && k < tile; ++k) buffers[1][k] = run = combine(run, buffers[0][k]);\n"
     "from = 1;\n"
     "__syncthreads();",
     "reads"},
    {"softmax/04_in_registers", "combine",
     "row_state pair;\n"
     "for (std::int64_t j = 0; threadIdx.x == 0 && j < columns; ++j)\n"
     "  append(pair, values[blockIdx.x * columns + j]);\n"
     "const row_state all = combine_threads(pair);\n"
     "row.to_exponentials(all.maximum);\n"
     "row.store(results + blockIdx.x * columns, columns, 1 / all.sum);",
     "loads"},
    {"transpose/02_shared_tile", "turn",
     "__syncthreads();\n"
     "for (int k = 0; x == 0 && y == 0 && k < side * side; ++k) {\n"
     "  const std::int64_t row = first_row + k % side, column = first_column + k / side;\n"
     "  if (row < rows && column < columns) transposed[column * rows + row] = tile[k % side][k / side];\n"
     "}",
     "store_requests"},
    {"convolution/03_shared_tile", "filter",
     "for (int k = 0; k < 2 * taps * taps; ++k)\n"
     "  sum += constant_filter[k / 2] * tile[(y + k / 2 / taps) * pitch + x + k / 2 % taps] / 2;",
     "reads"},
    {"reduction/03_warp_shuffle", "lanes",
     "for (int from = 1; from < 32; ++from) {\n"
     "  const T other = __shfl_sync(0xffffffffu, value, from);\n"
     "  if (threadIdx.x % 32 == 0) value = combine(value, other);\n"
     "}\n"
     "return value;",
     "shuffles"},
    {"ewm/03_look_back.lanes", "lanes",
     "State all = run;\n"
     "for (int from = 1; from < 32; ++from) {\n"
     "  const State earlier = windows::shuffle(run, from);\n"
     "  if (lane == 0) all = operation.combine(earlier, all);\n"
     "}\n"
     "run = all;",
     "shuffles"},
    {"ewm/05_thread_tiled", "outputs",
     "__syncthreads();\n"
     "for (int k = halo; thread == 0 && k < halo + tile_outputs; ++k) {\n"
     "  operation.append(run, tile[padded(k)]);\n"
     "  tile[padded(k)] = operation.finish(run);\n"
     "}",
     "reads"},
    {"reduction_2d/04_split", "lanes",
     "float all = 0;\n"
     "for (int from = 0; from < threads; ++from) all += __shfl_sync(0xffffffffu, partial, from, threads);\n"
     "partial = all;",
     "shuffles"},
    {"matrix_product/03_tiled", "multiply",
     "__syncthreads();\n"
     "float once = 0;\n"
     "for (int i = 0; i < tile; ++i) once += a_tile[y][i] * b_tile[i][x];\n"
     "float again = 0;\n"
     "for (int i = tile; i-- > 0;) again += a_tile[y][i] * b_tile[i][x];\n"
     "sum += (once + again) / 2;\n"
     "__syncthreads();",
     "reads"},
    {"shared_tile/01_synchronized", "fill",
     "for (int k = 0; threadIdx.x == 0 && threadIdx.y == 0 && k < tile * tile; ++k)\n"
     "  values[k / tile][k % tile] = amplitude(x + k % tile, y + k / tile);\n"
     "__syncthreads();",
     "stores"},
};

// The stage's source with `part` in the region.
std::string with_part(const std::string& path, const std::string& region, const std::string& part) {
  std::string source = stage_source(path.substr(0, path.find('.')));
  const std::size_t begin = source.find('\n', source.find("// exercise: " + region + "\n")) + 1;
  const std::size_t end = source.rfind('\n', source.find("// end", begin)) + 1;
  return source.replace(begin, end - begin, part + "\n");
}

// The exercise begun anew, and checked with `part` in the region.
outcome check_part(const workbook& book, const std::string& path, const std::string& region,
                   const std::string& part) {
  book.begin(path);
  lab::test::put(book.file(path, "stage.cu"), with_part(path, region, part));
  return book.lab({"check", path});
}

TEST_CASE("a checkpoint misses what one thread does for its block, and what is done twice") {
  const workbook book;
  int tried = 0;
  for (const wasteful& one : all_wasteful) {
    if (++tried > 2 && !all_are_compiled()) break;
    CAPTURE(one.path);
    expect(check_part(book, one.path, one.region, one.part), 1,
           {"4. sound        ok", std::string("   ") + one.missed + ": MISSED"});
  }
}

TEST_CASE("a kernel that is wrong where the last tile is whole, and nowhere else, is found") {
  struct wrong_there {
    const char* path;
    const char* region;
    const char* part;
  };
  const wrong_there all[] = {
      {"elementwise/01_naive", "element",
       "const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;\n"
       "if (i < n && n % block_threads > 0) doubled[i] = 2 * values[i];"},
      {"moving_average/01_naive", "sum",
       "double sum = n % block_threads == 0 ? 1 : 0;\n"
       "for (std::int64_t j = i - window + 1; j <= i; ++j) sum += values[j];\n"
       "averages[i] = sum / static_cast<double>(window);"},
      {"ewm/01_truncated_window", "run",
       "const std::int64_t end = threadIdx.x + halo - (n % block_threads == 0 ? 1 : 0);\n"
       "for (std::int64_t k = threadIdx.x; k <= end; ++k) operation.append(run, tile[k]);"},
      {"reduction/01_naive", "block",
       "if (threadIdx.x > 0) return;\n"
       "for (int k = n % block_threads == 0 ? 2 : 1; k < block_threads; ++k)\n"
       "  partial = combine(partial, of_thread[k]);\n"
       "partials[blockIdx.x] = partial;"},
      {"rolling/02_monoid", "lift",
       "for (int k = thread; k < count; k += block_threads) {\n"
       "  const std::int64_t j = first + tile - count + k + (n % tile == 0 ? 1 : 0);\n"
       "  tiles[k] = j >= 0 && j < n ? operation.lift(values[j]) : operation.identity();\n"
       "}"}};
  const workbook book;
  for (const wrong_there& one : all) {
    if (&one != all && !all_are_compiled()) break;
    CAPTURE(one.path);
    expect(check_part(book, one.path, one.region, one.part), 1, {"3. right        FAIL"});
  }
}

TEST_CASE("a value that is not returned is the compiler's to find, and a proved hang is waited for once") {
  const workbook book;
  outcome found = check_part(book, "reduction/03_warp_shuffle", "lanes", "value = combine(value, value);");
  expect(found, 1, {"2. builds       FAIL", "no return statement in function returning non-void", " | }\n"});

  found = check_part(book, "elementwise/01_naive", "element",
                     "const volatile double* first = values;\nwhile (n > 0 && *first != 12345.5) {\n}\n"
                     "doubled[0] = 1;");
  INFO(found.text);
  expect(found, 1,
         {"3. right        FAIL    crashed: ", "waits in a loop for ever",
          " | while (n > 0 && *first != 12345.5) {\n"});
  CHECK(!contains(found.text, "4. sound"));
}

TEST_CASE("blocks that all do the same are named, whether the results are right or not") {
  const workbook book;
  const std::string path = "elementwise/01_naive";
  book.begin(path);
  // Each block writes everything, which takes far too long for large inputs.
  lab::test::put(book.file(path, "stage.cu"),
                 with_part(path, "element",
                           "for (std::int64_t i = threadIdx.x; i < n; i += block_threads)\n"
                           "  doubled[i] = 2 * values[i];"));
  outcome found = book.lab({"check", path, "--timeout", "10"});
  INFO(found.text);
  expect(found, 1, {"3. right        ok"});
  const auto names_the_blocks = [&] {
    return contains(found.text, "   warning: ") && contains(found.text, "double_kernel: block (1,0,0): ") &&
           contains(found.text, " of block (0,0,0) writes at ") &&
           contains(found.text, "nothing orders the two blocks; both write the same value (n=");
  };
  CHECK(names_the_blocks());

  // Each block writes the first elements.
  const workbook another;
  found = check_part(another, "elementwise/01_naive", "element",
                     "const std::int64_t i = threadIdx.x;\nif (i < n) doubled[i] = 2 * values[i];");
  INFO(found.text);
  expect(found, 1, {"3. right        FAIL"});
  CHECK(names_the_blocks());
}

TEST_CASE("what a kernel prints is shown, its first lines") {
  const workbook book;
  outcome found = check_part(
      book, "elementwise/01_naive", "element",
      "const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;\n"
      "if (i < 25) printf(\"element %lld\\n\", static_cast<long long>(i));\n"
      "if (i < n) doubled[i] = 2 * values[i];");
  INFO(found.text);
  expect(found, 0, {"   printed:\n      element 0\n      element 1\n", "\n      element 19\n      … and "});
  CHECK(!contains(found.text, "element 20"));

  // A crash loses nothing of it.
  const workbook another;
  found = check_part(another, "elementwise/01_naive", "element",
                     "if (blockIdx.x == 0 && threadIdx.x == 0) printf(\"here\\n\");\n"
                     "doubled[values[0] > -1e9 ? -1'000'000'000'000 : 0] = 1;");
  expect(found, 1, {"3. right        FAIL", "   printed:\n      here\n"});
}

TEST_CASE("on a terminal a check has colours, the seconds of each step and lines of its width") {
  const std::string call = std::string(LAB_PROGRAM) + " check elementwise/01_naive --solution";
  const outcome found =
      call_program({"/usr/bin/env", "-u", "NO_COLOR", "TERM=xterm", "script", "-qec", call, "/dev/null"},
                   std::chrono::seconds(1200));
  expect(
      found, 0,
      {"\033[32m ok\033[0m", " s)", "elementwise/01_naive: \033[32mPASSED\033[0m",
       "\033[32m: reached\033[0m: l1tex__", "\n      l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum is 8"});
}

TEST_CASE("with --watch every save is checked") {
  const workbook book;
  const std::string path = "shared_tile/01_synchronized";
  book.begin(path);
  const std::string source = book.file(path, "stage.cu").string();
  const std::string solution = book.file(path, "solution.cu").string();
  lab::test::put(solution, stage_source(path));
  // The beginning fails, what is saved then passes, and an interrupt ends it.
  const std::string script = "log=" + book.file(path, "log").string() + "; \"$0\" check --watch " + path +
                             " > $log 2>&1 & lab=$!\n"
                             "until grep -q watching $log; do kill -0 $lab || exit 3; sleep 0.1; done\n"
                             "cp " +
                             solution + " " + source + ".new; mv " + source + ".new " + source +
                             "\nuntil grep -q PASSED $log; do kill -0 $lab || exit 4; sleep 0.1; done\n"
                             "kill -INT $lab; wait $lab; code=$?; cat $log; exit $code";
  const outcome found =
      lab::test::call_program({"/usr/bin/env", "LAB_EXERCISES=" + book.file("", "").parent_path().string(),
                               "/bin/bash", "-c", "set -m\n" + script, LAB_PROGRAM},
                              std::chrono::seconds(600));
  INFO(found.text);
  expect(found, 130, {path + ": not passed yet", path + ": PASSED"});
  CHECK(book.lab({"check", path, "--watch", "--hint", "1"}).code == 2);
}

TEST_CASE("a miss names line, figure and aim, a hint helps, and the solution passes") {
  const workbook book;
  const std::string path = "moving_average/04_padded";
  book.begin(path);
  outcome found = book.lab({"check", path, "--hint", "1"});
  CHECK(found.code == 2);
  CHECK(contains(found.text, "predict first"));

  found = book.lab({"check", path});
  INFO(found.text);
  CHECK(
      contains(found.text, " |       for (int k = place; k <= place + halo; ++k) sum += tile[padded(k)];\n"));
  CHECK(contains(found.text, " |       ^~~~"));
  CHECK(contains(found.text, "the aim is at most 0.010 (n = "));
  CHECK(contains(found.text, "--hint 1"));
  CHECK(!contains(found.text, "you predicted"));
  found = book.lab({"check", path, "--hint", "2"});
  CHECK(contains(found.text, "hint 2: "));
  CHECK(!contains(found.text, "hint 3: "));

  // What was predicted first counts, and that it was changed is said.
  const json kept = json::parse(lab::test::get(book.file(path, "exercise.json"))).at("kept");
  lab::test::put(book.file(path, "predictions.json"),
                 R"({"before": {"answer": 32, "why": "I know it now"}})");
  lab::test::put(book.file(path, "stage.cu"), stage_source(path));
  const std::string result = book.file(path, "result.json").string();
  found = book.lab({"check", path, "--json", result});
  INFO(found.text);
  CHECK(found.code == 0);
  const json document = json::parse(lab::test::get(result));
  CHECK(document.at("passed") == true);
  CHECK(document.at("predictions_changed_since") == true);
  CHECK(document.at("prediction_digest") == kept.at("digest"));
  CHECK(document.at("hints") == 2);
  CHECK(document.at("checks") == 2);
  for (const json& one : document.at("predictions")) {
    CAPTURE(one.dump());
    if (one.at("name") == "before") CHECK((one.at("given") == "1" && one.at("right") == false));
  }
}

TEST_CASE("a student's file that does not compile, never ends, or races is told so with its line") {
  const workbook book;
  const std::string path = "shared_tile/01_synchronized";
  book.begin(path);
  const std::string solution = stage_source(path);
  const std::string barrier = "  __syncthreads();\n";
  const auto check_with = [&](const std::string& line) {
    std::string source = solution;
    source.replace(source.find(barrier), barrier.size(), line);
    lab::test::put(book.file(path, "stage.cu"), source);
    return book.lab({"check", path});
  };
  outcome found = check_with("  __syncthread();\n");
  expect(found, 1,
         {"stage.cu:18: ", "__syncthread", "2. builds       FAIL",
          "      18 |   __syncthread();\n         |   ^"});

  found = check_with("  while (true) __syncthreads();\n");
  expect(found, 1, {"stage.cu:18: mirror_kernel: block (0,0,0): ", "waits in a loop for ever"});

  // The order of the threads may happen to be right, and the race is found all the same.
  found = check_with("  if (threadIdx.x < 100) __syncwarp();\n");
  expect(found, 1,
         {"4. sound        FAIL    race: ", ": mirror_kernel: block ",
          " |   values[threadIdx.y][threadIdx.x] = amplitude(x, y);\n"});

  // A change outside of the markers is not compiled: the grid is the lab's.
  lab::test::put(book.file(path, "stage.cu"), "int no_such_thing = cheat();\n" + solution);
  found = book.lab({"check", path});
  expect(found, 0, {"has no effect"});
}

TEST_CASE("a stage of one's own fails until it is written, and is no stage of the lab") {
  const workbook book;
  outcome found = book.lab({"new", "elementwise/09_mine", "--from", "01_naive"});
  INFO(found.text);
  REQUIRE(found.code == 0);
  found = book.lab({"check", "elementwise/09_mine"});
  INFO(found.text);
  expect(found, 1, {"was never written"});
  CHECK(!contains(book.lab({"describe", "elementwise", "--device", "emulator"}).text, "09_mine"));
  CHECK(book.lab({"run", "elementwise/09_mine", "--device", "emulator"}).code == 2);

  lab::test::put(book.file("elementwise/09_mine", "stage.cu"), stage_source("elementwise/01_naive"));
  found = book.lab({"check", "elementwise/09_mine"});
  INFO(found.text);
  CHECK(found.code == 0);

  for (const strings& wrong : {strings{"new", "elementwise/09_mine"},
                               {"new", "elementwise/mine"},
                               {"new", "nothing/09_mine"},
                               {"new", "elementwise/01_naive"},
                               {"new"},
                               {"new", "elementwise/10_x", "--from", "reduction/01_naive"},
                               {"new", "--exercise", "elementwise/2"},
                               {"new", "--exercise", "elementwise/01_naive", "--student", "../x"},
                               {"check", "elementwise/77_none"},
                               {"check", "../x"}}) {
    INFO(wrong.back());
    CHECK(book.lab(wrong).code == 2);
  }
}
