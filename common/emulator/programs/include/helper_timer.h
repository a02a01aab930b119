// The stopwatch of NVIDIA's samples: the host's clock, in milliseconds.
#pragma once

#include <chrono>

class StopWatchInterface {
 public:
  void start() {
    began_ = clock::now();
    runs_ = true;
  }
  void stop() {
    if (!runs_) return;
    total_ += since();
    ++sessions_;
    runs_ = false;
  }
  void reset() {
    total_ = 0;
    sessions_ = 0;
    if (runs_) began_ = clock::now();
  }
  float getTime() { return total_ + (runs_ ? since() : 0.0f); }
  float getAverageTime() { return sessions_ > 0 ? total_ / static_cast<float>(sessions_) : 0.0f; }

 private:
  using clock = std::chrono::steady_clock;
  float since() const { return std::chrono::duration<float, std::milli>(clock::now() - began_).count(); }
  clock::time_point began_{};
  float total_ = 0;
  int sessions_ = 0;
  bool runs_ = false;
};

inline bool sdkCreateTimer(StopWatchInterface** timer) {
  *timer = new StopWatchInterface;
  return true;
}
inline bool sdkDeleteTimer(StopWatchInterface** timer) {
  delete *timer;
  *timer = nullptr;
  return true;
}
inline bool sdkStartTimer(StopWatchInterface** timer) {
  (*timer)->start();
  return true;
}
inline bool sdkStopTimer(StopWatchInterface** timer) {
  (*timer)->stop();
  return true;
}
inline bool sdkResetTimer(StopWatchInterface** timer) {
  (*timer)->reset();
  return true;
}
inline float sdkGetTimerValue(StopWatchInterface** timer) {
  return (*timer)->getTime();
}
inline float sdkGetAverageTimerValue(StopWatchInterface** timer) {
  return (*timer)->getAverageTime();
}
