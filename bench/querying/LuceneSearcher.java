import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.CharArraySet;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.en.EnglishAnalyzer;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.FSDirectory;

/**
 * Searches with Lucene and prints the CPU milliseconds of every query, one list per round.
 *
 * Arguments: the file of pages, the folder of the index, the file of queries, and the number of rounds. `lucene.py`
 * writes both files. The index is built when its folder does not exist. One round comes first and is not measured.
 */
public class LuceneSearcher {
    static final int BEST = 10;
    static final String[] FIELDS = {"title", "text"};
    static final Analyzer ENGLISH = new EnglishAnalyzer(CharArraySet.EMPTY_SET);
    static int shown; // titles read: the compiler must not skip the reading

    public static void main(String[] arguments) throws Exception {
        Path folder = Path.of(arguments[1]);
        if (!Files.exists(folder)) {
            build(Path.of(arguments[0]), folder);
        }
        List<String> queries = new ArrayList<>();
        try (DataInputStream file = opened(Path.of(arguments[2]))) {
            for (String query; (query = string(file)) != null; ) {
                queries.add(query);
            }
        }
        IndexSearcher searcher = new IndexSearcher(DirectoryReader.open(FSDirectory.open(folder)));
        round(searcher, queries);
        List<String> rounds = new ArrayList<>();
        for (int left = Integer.parseInt(arguments[3]); left > 0; left--) {
            rounds.add(Arrays.toString(round(searcher, queries)));
        }
        System.out.println("[" + String.join(",", rounds) + "]");
    }

    static double[] round(IndexSearcher searcher, List<String> queries) throws Exception {
        double[] spent = new double[queries.size()];
        for (int number = 0; number < spent.length; number++) {
            long before = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
            for (ScoreDoc found : searcher.search(query(queries.get(number)), BEST).scoreDocs) {
                shown += searcher.doc(found.doc).get("title").length();
            }
            spent[number] = (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - before) / 1e6;
        }
        return spent;
    }

    static Query query(String words) throws Exception {
        BooleanQuery.Builder query = new BooleanQuery.Builder();
        for (String field : FIELDS) {
            try (TokenStream tokens = ENGLISH.tokenStream(field, words)) {
                CharTermAttribute term = tokens.addAttribute(CharTermAttribute.class);
                tokens.reset();
                while (tokens.incrementToken()) {
                    query.add(new TermQuery(new Term(field, term.toString())), Occur.SHOULD);
                }
                tokens.end();
            }
        }
        return query.build();
    }

    static void build(Path pages, Path folder) throws Exception {
        IndexWriterConfig settings = new IndexWriterConfig(ENGLISH).setRAMBufferSizeMB(256);
        try (DataInputStream file = opened(pages);
                IndexWriter writer = new IndexWriter(FSDirectory.open(folder), settings)) {
            for (String title; (title = string(file)) != null; ) {
                Document document = new Document();
                document.add(new TextField("title", title, Field.Store.YES));
                document.add(new TextField("text", string(file), Field.Store.NO));
                writer.addDocument(document);
            }
        }
    }

    static DataInputStream opened(Path path) throws Exception {
        return new DataInputStream(new BufferedInputStream(Files.newInputStream(path), 1 << 20));
    }

    static String string(DataInputStream file) throws Exception {
        try {
            return new String(file.readNBytes(file.readInt()), StandardCharsets.UTF_8);
        } catch (EOFException end) {
            return null;
        }
    }
}
