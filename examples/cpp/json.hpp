// As much JSON as a bot needs: values, a parser, and texts to write.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

using std::string;

/// A value of JSON. Numbers are kept as doubles; a missing field reads as its default.
struct Json {
  using List = std::vector<Json>;
  using Map = std::map<string, Json>;
  std::variant<std::nullptr_t, bool, double, string, List, Map> value;

  const Json &get(const string &field) const {
    static const Json null;
    if (!std::holds_alternative<Map>(value)) return null;
    auto found = std::get<Map>(value).find(field);
    return found == std::get<Map>(value).end() ? null : found->second;
  }
  template <typename T> T as() const {
    auto found = std::get_if<T>(&value);
    return found ? *found : T();
  }
  string text(const string &field) const { return get(field).as<string>(); }
  List list(const string &field) const { return get(field).as<List>(); }
  long number(const string &field) const { return static_cast<long>(get(field).as<double>()); }
};

/// Reads one JSON value from a text; throws std::runtime_error where it is not JSON.
class Parser {
public:
  static Json parse(const string &text) {
    Parser parser(text);
    Json value = parser.value();
    parser.space();
    if (parser.at < text.size()) parser.wrong();
    return value;
  }

private:
  explicit Parser(const string &text) : source(text) {}

  Json value() {
    space();
    char first = peek();
    if (first == '{') {
      Json::Map map;
      for (++at; !ends('}');) {
        if (!map.empty()) expect(",");
        space();
        string name = quoted();
        space();
        expect(":");
        map[name] = value();
      }
      return {map};
    }
    if (first == '[') {
      Json::List list;
      for (++at; !ends(']');) {
        if (!list.empty()) expect(",");
        list.push_back(value());
      }
      return {list};
    }
    if (first == '"') return {quoted()};
    if (first == 't') return expect("true"), Json{true};
    if (first == 'f') return expect("false"), Json{false};
    if (first == 'n') return expect("null"), Json{nullptr};
    char *end = nullptr;
    double number = std::strtod(source.c_str() + at, &end);
    if (end == source.c_str() + at) wrong();
    at = static_cast<size_t>(end - source.c_str());
    return {number};
  }

  string quoted() {
    static const std::map<char, char> escapes = {
        {'n', '\n'}, {'t', '\t'}, {'r', '\r'}, {'b', '\b'}, {'f', '\f'}};
    string text;
    for (expect("\""); peek() != '"'; ++at) {
      if (at >= source.size()) wrong();
      if (peek() != '\\') {
        text += peek();
        continue;
      }
      ++at;
      if (peek() == 'u') {
        ++at;
        text += unicode();
        --at;
      } else {
        auto found = escapes.find(peek());
        text += found == escapes.end() ? peek() : found->second;
      }
    }
    ++at;
    return text;
  }

  /// Reads the digits of one \u escape, or of a pair of surrogates, and returns UTF-8.
  string unicode() {
    unsigned code = hex();
    if (code >= 0xd800 && code < 0xdc00) {
      expect("\\u");
      code = 0x10000 + ((code - 0xd800) << 10) + (hex() - 0xdc00);
    }
    auto tail = [code](int shift) { return static_cast<char>(0x80 | (code >> shift & 0x3f)); };
    if (code < 0x80) return {static_cast<char>(code)};
    if (code < 0x800) return {static_cast<char>(0xc0 | code >> 6), tail(0)};
    if (code < 0x10000) return {static_cast<char>(0xe0 | code >> 12), tail(6), tail(0)};
    return {static_cast<char>(0xf0 | code >> 18), tail(12), tail(6), tail(0)};
  }

  unsigned hex() {
    if (at + 4 > source.size()) wrong();
    at += 4;
    return static_cast<unsigned>(std::stoul(source.substr(at - 4, 4), nullptr, 16));
  }

  char peek() const { return at < source.size() ? source[at] : '\0'; }

  void space() { at = std::min(source.find_first_not_of(" \t\r\n", at), source.size()); }

  bool ends(char end) {
    space();
    if (at >= source.size()) wrong();
    return peek() == end ? ++at : false;
  }

  void expect(const string &word) {
    if (source.compare(at, word.size(), word) != 0) wrong();
    at += word.size();
  }

  [[noreturn]] void wrong() const {
    throw std::runtime_error("not JSON at byte " + std::to_string(at));
  }

  const string &source;
  size_t at = 0;
};

/// Returns a text as JSON.
inline string quote(const string &text) {
  string out = "\"";
  for (char each : text) {
    if (each == '"' || each == '\\') out += '\\';
    if (static_cast<unsigned char>(each) >= ' ') out += each;
  }
  return out + '"';
}
