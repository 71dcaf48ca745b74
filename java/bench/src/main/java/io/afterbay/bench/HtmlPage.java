package io.afterbay.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A page for a browser from a template: one file, which loads nothing. A slot of the template is
 * {@code {{name}}}; the slots {@code echarts} and {@code echarts-version} are filled with Apache
 * ECharts, copied from its jar with its notice.
 */
public final class HtmlPage {
    private static final Pattern SLOT = Pattern.compile("\\{\\{([a-z-]+)}}");
    private static final String WEBJAR = "/META-INF/maven/org.webjars/echarts/pom.properties";

    private HtmlPage() {}

    /**
     * Fills all slots, in one pass, so that what is filled in is not searched for slots.
     *
     * @param parts what goes into the other slots, as it stands
     */
    public static String fill(String template, Map<String, String> parts) throws IOException {
        Map<String, String> all = new HashMap<>(parts);
        String version = echartsVersion();
        all.put("echarts-version", version);
        all.put("echarts", echarts(version));
        return SLOT.matcher(template).replaceAll(slot -> Matcher.quoteReplacement(part(all, slot)));
    }

    private static String part(Map<String, String> parts, MatchResult slot) {
        String part = parts.get(slot.group(1));
        if (part == null) {
            throw new IllegalStateException("the page has an unknown slot " + slot.group());
        }
        return part;
    }

    /** Text for an element or an attribute. */
    public static String escaped(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }

    /** The JSON, such that it cannot end the element that it stands in. */
    public static String embedded(String json) {
        return json.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026");
    }

    /** A resource as text; the name is relative to the class. */
    public static String resource(Class<?> place, String name) throws IOException {
        try (InputStream in = open(place, name)) {
            return new String(in.readAllBytes(), UTF_8);
        }
    }

    private static String echarts(String version) throws IOException {
        return resource(
                HtmlPage.class,
                "/META-INF/resources/webjars/echarts/" + version + "/echarts.min.js");
    }

    private static String echartsVersion() throws IOException {
        Properties properties = new Properties();
        try (InputStream in = open(HtmlPage.class, WEBJAR)) {
            properties.load(in);
        }
        return properties.getProperty("version");
    }

    private static InputStream open(Class<?> place, String name) throws IOException {
        InputStream in = place.getResourceAsStream(name);
        if (in == null) {
            throw new FileNotFoundException(
                    name + " is not on the class path; build Afterbay again");
        }
        return in;
    }
}
