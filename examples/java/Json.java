import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** JSON values as maps, lists, strings, numbers (Double), booleans and null. */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** Parses one value; throws IllegalArgumentException for a mistake. */
    static Object parse(String text) {
        Json json = new Json(text);
        Object value = json.value();
        json.space();
        if (json.at < text.length()) throw json.wrong();
        return value;
    }

    /** Writes a value; whole numbers have no decimal point. */
    static String write(Object value) {
        if (value instanceof Map<?, ?> map) {
            List<String> parts = new ArrayList<>();
            map.forEach((key, each) -> parts.add(write(key.toString()) + ":" + write(each)));
            return "{" + String.join(",", parts) + "}";
        }
        if (value instanceof List<?> list) {
            return "[" + String.join(",", list.stream().map(Json::write).toList()) + "]";
        }
        if (value instanceof String string) return quoted(string);
        if (value instanceof Double number && number == Math.rint(number)) {
            return Long.toString(number.longValue());
        }
        return String.valueOf(value);
    }

    private static String quoted(String string) {
        StringBuilder out = new StringBuilder("\"");
        for (char each : string.toCharArray()) {
            if (each == '"' || each == '\\') out.append('\\').append(each);
            else if (each < ' ') out.append(String.format("\\u%04x", (int) each));
            else out.append(each);
        }
        return out.append('"').toString();
    }

    private Object value() {
        space();
        return switch (peek()) {
            case '{' -> map();
            case '[' -> list();
            case '"' -> string();
            case 't' -> word("true", true);
            case 'f' -> word("false", false);
            case 'n' -> word("null", null);
            default -> number();
        };
    }

    private Map<String, Object> map() {
        Map<String, Object> map = new LinkedHashMap<>();
        at++;
        for (space(); peek() != '}'; space()) {
            if (!map.isEmpty()) expect(',');
            space();
            String key = string();
            space();
            expect(':');
            map.put(key, value());
        }
        at++;
        return map;
    }

    private List<Object> list() {
        List<Object> list = new ArrayList<>();
        at++;
        for (space(); peek() != ']'; space()) {
            if (!list.isEmpty()) expect(',');
            list.add(value());
        }
        at++;
        return list;
    }

    private String string() {
        StringBuilder out = new StringBuilder();
        expect('"');
        while (peek() != '"') {
            char each = text.charAt(at++);
            if (each != '\\') {
                out.append(each);
                continue;
            }
            char escaped = peek();
            at++;
            switch (escaped) {
                case 'n' -> out.append('\n');
                case 't' -> out.append('\t');
                case 'r' -> out.append('\r');
                case 'b' -> out.append('\b');
                case 'f' -> out.append('\f');
                case 'u' -> {
                    if (at + 4 > text.length()) throw wrong();
                    out.append((char) Integer.parseInt(text.substring(at, at + 4), 16));
                    at += 4;
                }
                default -> out.append(escaped);
            }
        }
        at++;
        return out.toString();
    }

    private Double number() {
        int from = at;
        while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) at++;
        if (from == at) throw wrong();
        return Double.valueOf(text.substring(from, at));
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, at)) throw wrong();
        at += word.length();
        return value;
    }

    private char peek() {
        if (at >= text.length()) throw wrong();
        return text.charAt(at);
    }

    private void expect(char each) {
        if (peek() != each) throw wrong();
        at++;
    }

    private void space() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) at++;
    }

    private IllegalArgumentException wrong() {
        return new IllegalArgumentException("not JSON at character " + at + ": " + text);
    }
}
