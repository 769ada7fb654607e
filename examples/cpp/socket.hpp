// The client's side of a WebSocket (RFC 6455) for text messages, over plain TCP.
#pragma once

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string>

using std::string;

/// Returns a random number of the system below a bound.
inline unsigned random_below(unsigned bound) {
  static std::random_device source;
  return std::uniform_int_distribution<unsigned>(0, bound - 1)(source);
}

/// Returns random digits out of those given.
inline string random_digits(const string &digits, int count) {
  string text;
  while (count-- > 0) text += digits[random_below(digits.size())];
  return text;
}

/// The connection is gone; what() says why.
struct Lost : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Socket {
public:
  /// Messages are lines of standard input and output.
  Socket() = default;
  Socket(const string &host, const string &port, const string &path, const string &subprotocol) {
    addrinfo hints{}, *found = nullptr;
    hints.ai_socktype = SOCK_STREAM;
    if (int code = getaddrinfo(host.c_str(), port.c_str(), &hints, &found))
      throw Lost(gai_strerror(code));
    for (auto each = found; each && handle < 0; each = each->ai_next) {
      handle = socket(each->ai_family, each->ai_socktype, each->ai_protocol);
      patience(10'000);
      if (handle >= 0 && connect(handle, each->ai_addr, each->ai_addrlen) != 0) drop();
    }
    freeaddrinfo(found);
    if (handle < 0) throw Lost("cannot connect");
    std::signal(SIGPIPE, SIG_IGN); // a write to a lost connection is an error, not the end
    int on = 1;
    setsockopt(handle, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    try {
      shake_hands(host + ":" + port, path, subprotocol);
    } catch (...) {
      drop();
      throw;
    }
  }
  ~Socket() { drop(); }
  Socket(const Socket &) = delete;

  /// Sets the time after which a silent server counts as gone.
  void patience(long milliseconds) {
    timeval limit{};
    limit.tv_sec = milliseconds / 1000;
    setsockopt(handle, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(handle, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  }

  void send_text(const string &text) {
    if (handle >= 0) return frame(text_frame, text);
    std::fputs((text + "\n").c_str(), stdout);
    std::fflush(stdout);
  }

  /// Returns the next message; throws Lost when the connection is closed.
  string receive() {
    string message;
    if (handle < 0) {
      if (!std::getline(std::cin, message)) throw Lost("the input ended");
      return message;
    }
    while (true) {
      string head = read(2);
      uint64_t size = head[1] & 127;
      if (size > 125) { // the size follows in 2 or 8 bytes
        string wide = read(size == 126 ? 2 : 8);
        size = 0;
        for (unsigned char each : wide) size = size << 8 | each;
      }
      string data = read(size);
      switch (head[0] & 15) {
      case close_frame:
        throw Lost(data.size() > 2 ? data.substr(2) : "closed");
      case ping_frame:
        frame(pong_frame, data);
        break;
      case pong_frame:
        break;
      default:
        message += data;
        if (head[0] & 128) return message;
      }
    }
  }

private:
  enum { text_frame = 1, close_frame = 8, ping_frame = 9, pong_frame = 10 };

  void shake_hands(const string &host, const string &path, const string &subprotocol) {
    // 16 random bytes in base 64 end with a digit of two bits and two signs of equality.
    string key = random_digits(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 21);
    key += random_digits("AQgw", 1) + "==";
    write("GET " + path + " HTTP/1.1\r\nHost: " + host +
          "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: " + key +
          "\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: " + subprotocol + "\r\n\r\n");
    string head;
    while (head.find("\r\n\r\n") == string::npos) head += read(1);
    if (head.rfind("HTTP/1.1 101", 0) != 0) throw Lost(head.substr(0, head.find("\r\n")));
  }

  void frame(int kind, const string &data) {
    string frame(1, static_cast<char>(128 | kind));
    int wide = data.size() < 126 ? 0 : data.size() < 65536 ? 2 : 8;
    frame += static_cast<char>(128 | (wide == 0 ? data.size() : wide == 2 ? 126 : 127));
    while (wide-- > 0) frame += static_cast<char>(uint64_t(data.size()) >> 8 * wide);
    string mask;
    for (int i = 0; i < 4; ++i) mask += static_cast<char>(random_below(256));
    frame += mask;
    for (size_t i = 0; i < data.size(); ++i) frame += static_cast<char>(data[i] ^ mask[i % 4]);
    write(frame);
  }

  void write(const string &data) {
    for (size_t done = 0; done < data.size();) {
      ssize_t sent = send(handle, data.data() + done, data.size() - done, 0);
      if (sent <= 0) throw Lost("cannot send");
      done += static_cast<size_t>(sent);
    }
  }

  string read(uint64_t count) {
    string data(count, '\0');
    for (size_t done = 0; done < count;) {
      ssize_t got = recv(handle, &data[done], count - done, 0);
      if (got <= 0) throw Lost(got == 0 ? "closed" : "silent");
      done += static_cast<size_t>(got);
    }
    return data;
  }

  void drop() {
    if (handle >= 0) close(handle);
    handle = -1;
  }

  int handle = -1;
};
