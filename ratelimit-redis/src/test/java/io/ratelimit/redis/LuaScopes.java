package io.ratelimit.redis;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Parses a Lua script that consists of parts, and resolves its names: which are global, which locals are never read, and
 * which locals one part declares and another uses. Knows the grammar of Lua 5.1 but for {@code repeat}, long strings and
 * long comments, and fails where it does not understand the script.
 */
final class LuaScopes {

    private static final Pattern TOKEN = Pattern.compile(
            "(\\n)|[ \\t]+|--[^\\n]*|([A-Za-z_]\\w*)"
                    + "|(\\d[\\w.]*|'(?:[^'\\\\\\n]|\\\\.)*'|\"(?:[^\"\\\\\\n]|\\\\.)*\"|\\.\\.\\.?|[=~<>]=|[-+*/%^#<>=(){}\\[\\];:,.])");

    private static final Set<String> END_OF_BLOCK = Set.of("end", "else", "elseif", "");

    private static final Set<String> BINARY =
            Set.of("+", "-", "*", "/", "%", "^", "..", "==", "~=", "<", ">", "<=", ">=", "and", "or");

    private static final Set<String> UNARY = Set.of("-", "#", "not");

    private static final Set<String> CONSTANTS = Set.of("nil", "true", "false", "...");

    /** A part of the script. */
    record Part(String name, String text) {

        /** Returns the names after {@code -- takes:} or {@code -- leaves:} in the part's first lines. */
        Set<String> names(String heading) {
            String start = "-- " + heading + ":";
            Set<String> names = new TreeSet<>();
            text.lines()
                    .filter(line -> line.startsWith(start))
                    .forEach(line -> names.addAll(
                            List.of(line.substring(start.length()).strip().split(" +"))));
            names.remove("");
            return names;
        }
    }

    private record Token(String text, boolean isName, String part, int line) {}

    private static final class Local {

        private final Token declared;

        private boolean isRead;

        Local(Token declared) {
            this.declared = declared;
        }
    }

    private final List<Token> tokens = new ArrayList<>();

    private int at;

    private final Deque<Map<String, Local>> scopes = new ArrayDeque<>();

    private final List<Local> locals = new ArrayList<>();

    private final Set<String> globals = new TreeSet<>();

    private final Map<String, Set<String>> taken = new HashMap<>();

    private final Map<String, Set<String>> left = new HashMap<>();

    LuaScopes(List<Part> parts) {
        parts.forEach(this::tokenize);
        tokens.add(new Token("", false, "", 0));
        block();
        expect("");
    }

    /** Returns the names that are no locals. */
    Set<String> globals() {
        return globals;
    }

    /** Returns part, line and name of the locals and parameters that are never read, {@code _} aside. */
    List<String> unused() {
        return locals.stream()
                .filter(local -> !local.isRead && !local.declared.text().equals("_"))
                .map(local -> local.declared.part() + ":" + local.declared.line() + " " + local.declared.text())
                .toList();
    }

    /** Returns the locals of other parts that the part uses. */
    Set<String> taken(String part) {
        return taken.getOrDefault(part, Set.of());
    }

    /** Returns the locals of the part that other parts use. */
    Set<String> left(String part) {
        return left.getOrDefault(part, Set.of());
    }

    private void tokenize(Part part) {
        Matcher matcher = TOKEN.matcher(part.text());
        int line = 1;
        int end = 0;
        for (; matcher.lookingAt(); matcher.region(end, part.text().length())) {
            end = matcher.end();
            if (matcher.group(1) != null) {
                line++;
            } else if (matcher.group(2) != null || matcher.group(3) != null) {
                tokens.add(new Token(matcher.group(), matcher.group(2) != null, part.name(), line));
            }
        }
        if (end < part.text().length()) {
            throw new IllegalArgumentException("No Lua: " + part.name() + ":" + line);
        }
    }

    private Token next() {
        return tokens.get(at++);
    }

    private boolean isNext(String text) {
        return tokens.get(at).text().equals(text);
    }

    private boolean skip(String text) {
        boolean found = isNext(text);
        if (found) {
            at++;
        }
        return found;
    }

    private void expect(String text) {
        if (!skip(text)) {
            throw new IllegalArgumentException("No '" + text + "' but " + tokens.get(at));
        }
    }

    private Token name() {
        Token token = next();
        if (!token.isName()) {
            throw new IllegalArgumentException("No name but " + token);
        }
        return token;
    }

    private List<Token> names() {
        List<Token> names = new ArrayList<>(List.of(name()));
        while (skip(",")) {
            names.add(name());
        }
        return names;
    }

    private void declare(List<Token> names) {
        for (Token name : names) {
            Local local = new Local(name);
            locals.add(local);
            scopes.element().put(name.text(), local);
        }
    }

    private void use(Token name, boolean isRead) {
        for (Map<String, Local> scope : scopes) {
            Local local = scope.get(name.text());
            if (local != null) {
                local.isRead |= isRead;
                handOver(local, name);
                return;
            }
        }
        globals.add(name.text());
    }

    private void handOver(Local local, Token name) {
        String declaring = local.declared.part();
        if (!declaring.equals(name.part())) {
            taken.computeIfAbsent(name.part(), part -> new TreeSet<>()).add(name.text());
            left.computeIfAbsent(declaring, part -> new TreeSet<>()).add(name.text());
        }
    }

    private void block(Token... declared) {
        scopes.push(new HashMap<>());
        declare(List.of(declared));
        while (!END_OF_BLOCK.contains(tokens.get(at).text())) {
            statement();
        }
        scopes.pop();
    }

    private void blockToEnd(Token... declared) {
        block(declared);
        expect("end");
    }

    private void statement() {
        if (skip("local")) {
            local();
        } else if (skip("function")) {
            Token name = name();
            boolean isField = isNext(".") || isNext(":");
            use(name, isField);
            while (skip(".") || skip(":")) {
                name();
            }
            function();
        } else if (skip("if")) {
            condition();
        } else if (skip("for")) {
            List<Token> names = names();
            next(); // = or in
            expressions();
            expect("do");
            blockToEnd(names.toArray(Token[]::new));
        } else if (skip("while")) {
            expression();
            expect("do");
            blockToEnd();
        } else if (skip("do")) {
            blockToEnd();
        } else if (skip("return")) {
            if (!END_OF_BLOCK.contains(tokens.get(at).text())) {
                expressions();
            }
        } else if (!skip("break") && !skip(";")) {
            assignmentOrCall();
        }
    }

    private void local() {
        if (skip("function")) {
            declare(List.of(name()));
            function();
            return;
        }
        List<Token> names = names();
        if (skip("=")) {
            expressions();
        }
        declare(names);
    }

    private void condition() {
        do {
            expression();
            expect("then");
            block();
        } while (skip("elseif"));
        if (skip("else")) {
            block();
        }
        expect("end");
    }

    private void assignmentOrCall() {
        do {
            Token first = tokens.get(at);
            boolean isWritten = first.isName()
                    && Set.of("=", ",").contains(tokens.get(at + 1).text());
            if (isWritten) {
                use(next(), false);
            } else {
                operand();
            }
        } while (skip(","));
        if (skip("=")) {
            expressions();
        }
    }

    private void function() {
        expect("(");
        List<Token> parameters = new ArrayList<>();
        while (!skip(")")) {
            if (!skip("...")) {
                parameters.add(name());
            }
            skip(",");
        }
        blockToEnd(parameters.toArray(Token[]::new));
    }

    private void expressions() {
        do {
            expression();
        } while (skip(","));
    }

    private void expression() {
        do {
            while (UNARY.contains(tokens.get(at).text())) {
                at++;
            }
            operand();
        } while (BINARY.contains(tokens.get(at).text()) && next() != null);
    }

    private void operand() {
        Token token = next();
        if (token.text().equals("function")) {
            function();
        } else if (token.text().equals("{")) {
            fields();
        } else if (token.text().equals("(")) {
            expression();
            expect(")");
            suffixes();
        } else if (token.isName() && !CONSTANTS.contains(token.text())) {
            use(token, true);
            suffixes();
        } else if (!CONSTANTS.contains(token.text()) && !token.text().matches("[\\d'\"].*")) {
            throw new IllegalArgumentException("No operand but " + token);
        }
    }

    private void suffixes() {
        while (true) {
            if (skip(".") || skip(":")) {
                name();
            } else if (skip("[")) {
                expression();
                expect("]");
            } else if (skip("(")) {
                if (!isNext(")")) {
                    expressions();
                }
                expect(")");
            } else {
                return;
            }
        }
    }

    private void fields() {
        while (!skip("}")) {
            if (skip("[")) {
                expression();
                expect("]");
                expect("=");
            } else if (tokens.get(at).isName() && tokens.get(at + 1).text().equals("=")) {
                at += 2;
            }
            expression();
            skip(",");
        }
    }
}
